#pragma once
// DPDK for test programs: ordinary pages, no device, no privilege. Once per process, as DPDK wants it.
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "dataplane/io/eal.h"
#include "dataplane/io/mbuf_pool.h"
#include "dataplane/io/port.h"

namespace matchrdma::io {

inline Eal& test_eal() {
  static const std::unique_ptr<Eal> eal = [] {
    auto e = Eal::start({.no_huge = true, .memory_mib = 128, .file_prefix = "matchrdma-test"});
    if (!e) {
      ADD_FAILURE() << e.error();
      std::abort();
    }
    return std::move(*e);
  }();
  return *eal;
}

/// A pool and a port over it.
struct TestPort {
  std::unique_ptr<MbufPool> pool;
  std::unique_ptr<Port> port;

  TestPort(const std::string& device, uint32_t mtu, uint32_t packets) {
    test_eal();
    const auto plan = plan_port({.device = device, .mtu = mtu, .rx_ring = 64, .tx_ring = 64, .tag = 7});
    if (!plan) throw std::runtime_error(plan.error());
    auto made = MbufPool::create("test", packets, plan->packet_room);
    if (!made) throw std::runtime_error(made.error());
    pool = std::move(*made);
    MbufPool* const pools[] = {pool.get()};
    auto opened = Port::open(*plan, pools);
    if (!opened) throw std::runtime_error(opened.error());
    port = std::move(*opened);
  }

  /// A packet whose bytes tell its number.
  PacketRef packet(uint32_t size, uint8_t number) const {
    PacketRef p = pool->alloc(size);
    for (uint32_t i = 0; p && i < size; ++i) p->data[i] = static_cast<uint8_t>(number + i * 7);
    return p;
  }
  uint32_t send(PacketRef p) const {
    PacketRef one[1];
    one[0] = std::move(p);
    return port->tx_burst(0, Lane::kBulk, one);
  }
  std::vector<PacketRef> receive() const {
    std::vector<PacketRef> got(Port::kMaxBurst);
    got.resize(port->rx_burst(0, got));
    return got;
  }
};

inline bool carries(const PacketRef& p, uint32_t size, uint8_t number) {
  if (!p || p->size != size) return false;
  for (uint32_t i = 0; i < size; ++i)
    if (p->data[i] != static_cast<uint8_t>(number + i * 7)) return false;
  return true;
}

}  // namespace matchrdma::io
