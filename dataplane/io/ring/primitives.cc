#include "dataplane/io/ring/primitives.h"

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_mbuf.h>

#include "dataplane/wire/icrc.h"

namespace matchrdma::io {
namespace {

constexpr uint16_t kBurst = 32;
constexpr uint32_t kIpv4 = 14, kIpv4Source = 26, kIpv4Destination = 30,
                   kBthQpn = 42 + 4;  // IPv4 without tags or options

FlowName name_of(const uint8_t* frame) {
  FlowName n{};
  std::memcpy(&n[0], frame + kIpv4Source, 4);
  std::memcpy(&n[1], frame + kIpv4Destination, 4);
  std::memcpy(&n[2], frame + kBthQpn, 4);
  return n;
}

}  // namespace

struct Primitives::Impl {
  Impl(RingPort& p, MbufPool& m, uint32_t ack) : port(p), pool(m), packets_per_ack(ack) {}
  RingPort& port;
  MbufPool& pool;
  rte_hash* table = nullptr;
  std::vector<rte_mbuf*> kept;  ///< a ring
  size_t oldest = 0, count = 0;
  uint32_t packets_per_ack, since_ack = 0;
  uint32_t seed = crc32(0, std::array<uint8_t, 8>{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff});

  ~Impl() {
    for (size_t i = 0; i < count; ++i) rte_pktmbuf_free(kept[(oldest + i) % kept.size()]);
    rte_hash_free(table);
  }
  uint64_t look_up(rte_mbuf** burst, uint16_t n) {
    std::array<FlowName, kBurst> names;
    std::array<const void*, kBurst> keys;
    std::array<void*, kBurst> data;
    for (uint16_t i = 0; i < n; ++i) {
      names[i] = name_of(rte_pktmbuf_mtod(burst[i], const uint8_t*));
      keys[i] = &names[i];
    }
    uint64_t hits = 0;
    rte_hash_lookup_bulk_data(table, keys.data(), n, &hits, data.data());
    return n - static_cast<uint64_t>(__builtin_popcountll(hits));
  }
  uint64_t check(rte_mbuf** burst, uint16_t n) const {
    uint64_t wrong = 0;
    for (uint16_t i = 0; i < n; ++i)
      wrong += right(rte_pktmbuf_mtod(burst[i], const uint8_t*), rte_pktmbuf_data_len(burst[i])) ? 0 : 1;
    return wrong;
  }
  // IBA A17.3.3 for IPv4 without options: ToS, TTL, both checksums and the BTH's fifth byte count as ones.
  bool right(const uint8_t* frame, uint32_t size) const {
    std::array<uint8_t, 20 + 8 + 12> head;
    std::memcpy(head.data(), frame + kIpv4, head.size());
    head[1] = head[8] = head[10] = head[11] = head[26] = head[27] = head[32] = 0xff;
    const uint32_t crc = crc32(seed, head);
    const uint32_t at = kIpv4 + static_cast<uint32_t>(head.size());
    return crc32(crc, {frame + at, size - 4 - at}) == load_le32(frame + size - 4);
  }
  void retain(rte_mbuf** burst, uint16_t n) {
    for (uint16_t i = 0; i < n; ++i) {
      if (count == kept.size()) {
        rte_pktmbuf_free(kept[oldest]);
        kept[oldest] = burst[i];
        oldest = oldest + 1 == kept.size() ? 0 : oldest + 1;
      } else {
        kept[(oldest + count++) % kept.size()] = burst[i];
      }
      rte_mbuf_refcnt_update(burst[i], 1);
    }
  }
  void acknowledge(uint16_t n) {
    for (since_ack += n; since_ack >= packets_per_ack; since_ack -= packets_per_ack) {
      if (rte_mbuf* m = rte_pktmbuf_alloc(pool.mempool())) rte_pktmbuf_free(m);
    }
  }
};

Primitives::Primitives(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Primitives::~Primitives() = default;

Result<std::unique_ptr<Primitives>> Primitives::create(RingPort& port, MbufPool& pool,
                                                       std::span<const FlowName> flows, uint32_t depth,
                                                       uint32_t packets_per_ack) {
  static int made = 0;
  const std::string name = "primitives" + std::to_string(made++);
  rte_hash_parameters p{};
  p.name = name.c_str();
  p.entries = static_cast<uint32_t>(std::max<size_t>(2 * flows.size(), 64));
  p.key_len = sizeof(FlowName);
  p.hash_func = rte_hash_crc;
  auto impl = std::make_unique<Impl>(port, pool, packets_per_ack);
  impl->table = rte_hash_create(&p);
  if (impl->table == nullptr)
    return Error{"a hash table of " + std::to_string(flows.size()) + " flows does not fit; give more memory"};
  for (const FlowName& f : flows) {
    if (rte_hash_add_key_data(impl->table, &f, nullptr) != 0) return Error{"a hash table takes no more flows"};
  }
  impl->kept.resize(depth);
  // The port must run to be polled; it is opened by nobody else.
  rte_eth_conf conf{};
  if (rte_eth_dev_configure(port.id(), 1, 1, &conf) != 0 ||
      rte_eth_rx_queue_setup(port.id(), 0, 512, SOCKET_ID_ANY, nullptr, pool.mempool()) != 0 ||
      rte_eth_tx_queue_setup(port.id(), 0, 512, SOCKET_ID_ANY, nullptr) != 0 ||
      rte_eth_dev_start(port.id()) != 0)
    return Error{"port " + port.name() + " cannot be started"};
  return std::unique_ptr<Primitives>(new Primitives(std::move(impl)));
}

uint64_t Primitives::run(const Steps& steps) {
  Impl& s = *impl_;
  std::array<rte_mbuf*, kBurst> burst;
  const uint64_t begin = rte_rdtsc_precise();
  while (const uint16_t n = rte_eth_rx_burst(s.port.id(), 0, burst.data(), kBurst)) {
    for (uint16_t i = 0; i < n; ++i) rte_prefetch0(rte_pktmbuf_mtod(burst[i], void*));
    if (steps.lookup) wrong_ += s.look_up(burst.data(), n);
    if (steps.icrc) wrong_ += s.check(burst.data(), n);
    if (steps.retain) s.retain(burst.data(), n);
    if (steps.acks) s.acknowledge(n);
    const uint16_t sent = rte_eth_tx_burst(s.port.id(), 0, burst.data(), n);
    for (uint16_t i = sent; i < n; ++i) rte_pktmbuf_free(burst[i]);
    wrong_ += static_cast<uint64_t>(n - sent);
  }
  return rte_rdtsc_precise() - begin;
}

double tsc_hz() { return static_cast<double>(rte_get_tsc_hz()); }
uint64_t tsc() { return rte_rdtsc_precise(); }

}  // namespace matchrdma::io
