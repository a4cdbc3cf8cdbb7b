#include "dataplane/io/port.h"

#include <rte_errno.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "dataplane/base/bytes.h"
#include "dataplane/io/mbuf_packet.h"
#include "dataplane/io/port_impl.h"

namespace matchrdma::io {
namespace {

/// Tries of a full transmit queue before packets are dropped.
constexpr int kTxRetries = 16;
constexpr uint16_t kVlan = 0x8100;

using Burst = std::array<rte_mbuf*, Port::kMaxBurst>;

/// A packet that is alone in its mbuf and whole, or nothing.
PacketRef admit(rte_mbuf* m, QueueStats& stats) {
  if (m->nb_segs != 1) {
    ++stats.rx_chained;
    rte_pktmbuf_free(m);
    return {};
  }
  if ((m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0 && rte_vlan_insert(&m) != 0) {
    ++stats.rx_no_copy;
    rte_pktmbuf_free(m);
    return {};
  }
  // A device inside this process (net_ring) may bring back what the core still holds: that mbuf's Packet is
  // taken.
  if (rte_mbuf_refcnt_read(m) != 1) {
    rte_mbuf* copy = rte_pktmbuf_copy(m, m->pool, 0, UINT32_MAX);
    rte_pktmbuf_free(m);
    if (copy == nullptr) {
      ++stats.rx_no_copy;
      return {};
    }
    ++stats.rx_copied;
    m = copy;
  }
  // What stands there is about the way in; on the way out it would ask the device for offloads.
  m->ol_flags &= RTE_MBUF_F_EXTERNAL | RTE_MBUF_F_INDIRECT;
  return to_packet(m);
}

/// Drivers over the kernel may free what they then report as not sent. A count of our own on each mbuf tells
/// what they took, and keeps it from being freed twice.
uint16_t tx_counted(uint16_t port, uint16_t queue, rte_mbuf** burst, uint16_t n) {
  std::array<uint16_t, Port::kMaxBurst> before{};
  for (uint16_t i = 0; i < n; ++i) before[i] = rte_mbuf_refcnt_update(burst[i], 1);
  rte_eth_tx_burst(port, queue, burst, n);
  uint16_t taken = 0;
  std::array<rte_mbuf*, Port::kMaxBurst> left{};
  uint16_t kept = 0;
  for (uint16_t i = 0; i < n; ++i) {
    if (rte_mbuf_refcnt_read(burst[i]) < before[i]) {
      ++taken;
      rte_pktmbuf_free(burst[i]);
    } else {
      rte_mbuf_refcnt_update(burst[i], -1);
      left[kept++] = burst[i];
    }
  }
  // What is still ours stands behind what was taken, as after an ordinary rte_eth_tx_burst.
  std::copy_n(left.begin(), kept, burst + taken);
  return taken;
}

bool too_long(Bytes frame, uint32_t longest) {
  if (frame.size() <= longest) return false;
  // The kernel grants the four bytes of one VLAN tag, if it is an 0x8100 one.
  return frame.size() > longest + 4 || load_be16(frame.data() + 12) != kVlan;
}

}  // namespace

uint32_t Port::rx_burst(uint16_t worker, std::span<PacketRef> out) {
  WorkerQueue& w = impl_->workers[worker];
  if (!w.receives) return 0;
  Burst burst;
  std::array<RingNote, kMaxBurst> notes;
  auto wanted = static_cast<uint16_t>(std::min<size_t>(out.size(), kMaxBurst));
  // A frame that comes after the look waits for the next one: nothing would be known beside it.
  if (w.ring) wanted = static_cast<uint16_t>(w.ring->look({notes.data(), wanted}));
  const uint16_t n = rte_eth_rx_burst(impl_->id, w.rx, burst.data(), wanted);
  for (uint16_t i = 0; i < n; ++i) {
    rte_prefetch0(rte_pktmbuf_mtod(burst[i], void*));
    rte_prefetch0(packet_of(burst[i]));
  }
  if (w.ring) w.ring->took(n);
  uint32_t kept = 0;
  for (uint16_t i = 0; i < n; ++i) {
    if (w.ring && notes[i].cut_off) {
      ++w.stats.rx_cut_off;
      rte_pktmbuf_free(burst[i]);
      continue;
    }
    PacketRef p = admit(burst[i], w.stats);
    if (!p) continue;
    if (w.ring && notes[i].outer_tpid != 0 && p->size >= 18) store_be16(p->data + 12, notes[i].outer_tpid);
    p->tag = impl_->plan.options.tag;
    out[kept++] = std::move(p);
  }
  return kept;
}

uint32_t Port::tx_burst(uint16_t worker, Lane lane, std::span<PacketRef> packets) {
  Impl& port = *impl_;
  WorkerQueue& w = port.workers[worker];
  MRDMA_CHECK(packets.size() <= kMaxBurst);
  // What a switched-off interface is given it would send when it is on again, much later.
  if (!port.interface_up.load(std::memory_order_relaxed)) {
    w.stats.tx_link_down += packets.size();
    for (PacketRef& p : packets) p.reset();
    return 0;
  }
  Burst burst;
  uint16_t n = 0;
  for (PacketRef& p : packets) {
    if (too_long(p->bytes(), port.longest_tx)) {
      ++w.stats.tx_too_long;
      p.reset();
      continue;
    }
    burst[n++] = to_mbuf(std::move(p));
  }
  const uint16_t queue = lane == Lane::kControl ? w.tx_control : w.tx_bulk;
  const bool locked = port.shared_tx;
  if (locked) rte_spinlock_lock(&port.tx_lock);
  uint16_t sent = 0;
  for (int tries = 0; sent < n && tries <= kTxRetries; ++tries) {
    const auto rest = static_cast<uint16_t>(n - sent);
    sent = static_cast<uint16_t>(sent + (port.abilities.kernel_backed
                                             ? tx_counted(port.id, queue, burst.data() + sent, rest)
                                             : rte_eth_tx_burst(port.id, queue, burst.data() + sent, rest)));
  }
  if (locked) rte_spinlock_unlock(&port.tx_lock);
  w.stats.tx_full += static_cast<uint64_t>(n - sent);
  for (uint16_t i = sent; i < n; ++i) rte_pktmbuf_free(burst[i]);
  return sent;
}

const PortAbilities& Port::abilities() const { return impl_->abilities; }
const std::string& Port::name() const { return impl_->device.name; }
uint32_t Port::mtu() const { return impl_->plan.options.mtu; }

std::array<uint8_t, 6> Port::mac() const {
  rte_ether_addr address{};
  std::array<uint8_t, 6> mac{};
  if (rte_eth_macaddr_get(impl_->id, &address) == 0) std::memcpy(mac.data(), address.addr_bytes, mac.size());
  return mac;
}

PortStats Port::stats() const {
  rte_eth_stats s{};
  if (rte_eth_stats_get(impl_->id, &s) != 0) return {};
  return {.rx_packets = s.ipackets,
          .rx_bytes = s.ibytes,
          .tx_packets = s.opackets,
          .tx_bytes = s.obytes,
          .rx_missed = s.imissed,
          .rx_no_memory = s.rx_nombuf,
          .rx_errors = s.ierrors,
          .tx_errors = s.oerrors};
}

const QueueStats& Port::queue_stats(uint16_t worker) const { return impl_->workers[worker].stats; }

std::vector<int> Port::wake_descriptors(uint16_t worker) const {
  const WorkerQueue& w = impl_->workers[worker];
  if (!w.receives) return {};
  if (impl_->sockets.size() == impl_->abilities.rx_queues) return {impl_->sockets[w.rx]};
  return impl_->sockets;
}

}  // namespace matchrdma::io
