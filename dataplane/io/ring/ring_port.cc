#include "dataplane/io/ring/ring_port.h"

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_ring.h>

#include <array>

#include "dataplane/io/mbuf_packet.h"

namespace matchrdma::io {

Result<std::unique_ptr<RingPort>> RingPort::create(const std::string& name, uint32_t packets) {
  const auto ring = [&](const char* way) {
    return rte_ring_create((name + way).c_str(), packets, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
  };
  rte_ring* in = ring("_in");
  rte_ring* out = ring("_out");
  if (in == nullptr || out == nullptr) {
    rte_ring_free(in);
    rte_ring_free(out);
    return Error{"ring " + name + " of " + std::to_string(packets) +
                 " packets cannot be made: " + rte_strerror(rte_errno)};
  }
  const int id = rte_eth_from_rings(name.c_str(), &in, 1, &out, 1, 0);
  if (id < 0) {
    rte_ring_free(in);
    rte_ring_free(out);
    return Error{"port net_ring_" + name + " cannot be made: " + rte_strerror(rte_errno)};
  }
  return std::unique_ptr<RingPort>(new RingPort(name, in, out, static_cast<uint16_t>(id)));
}

RingPort::~RingPort() {
  // A Port that was opened on it has taken it away already.
  if (uint16_t id = 0; rte_eth_dev_get_port_by_name(name().c_str(), &id) == 0) {
    rte_eth_dev_stop(id);
    rte_eth_dev_close(id);
    rte_eal_hotplug_remove("vdev", name().c_str());
  }
  take([](Bytes) {});
  void* m = nullptr;
  while (rte_ring_dequeue(in_, &m) == 0) rte_pktmbuf_free(static_cast<rte_mbuf*>(m));
  rte_ring_free(in_);
  rte_ring_free(out_);
}

bool RingPort::put(PacketRef packet) {
  rte_mbuf* m = to_mbuf(std::move(packet));
  if (rte_ring_enqueue(in_, m) == 0) return true;
  rte_pktmbuf_free(m);
  return false;
}

void RingPort::take(const std::function<void(Bytes)>& look) {
  std::array<void*, 64> some{};
  while (const unsigned n = rte_ring_dequeue_burst(out_, some.data(), some.size(), nullptr)) {
    for (unsigned i = 0; i < n; ++i) {
      auto* m = static_cast<rte_mbuf*>(some[i]);
      look({rte_pktmbuf_mtod(m, const uint8_t*), rte_pktmbuf_data_len(m)});
      rte_pktmbuf_free(m);
    }
  }
}

uint32_t RingPort::waiting() const { return rte_ring_count(in_); }

}  // namespace matchrdma::io
