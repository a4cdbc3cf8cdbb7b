#include "dataplane/io/dispatch.h"

#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_ring.h>

#include <algorithm>
#include <array>
#include <string>

#include "dataplane/io/idle.h"

namespace matchrdma::io {
namespace {

constexpr size_t kUsualBurst = 256;  ///< the largest `workers.burst`
constexpr uint16_t kIpv4 = 0x0800, kIpv6 = 0x86dd;

bool is_vlan(uint16_t type) { return type == 0x8100 || type == 0x88a8 || type == 0x9100; }

/// Spreads what differs in few bits only, like two neighbouring addresses (splitmix64).
uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

/// The same for both directions: a sum knows no order. Each address is mixed first, or 10.0.0.1-10.0.0.4 and
/// 10.0.0.2-10.0.0.3 would meet at one worker.
uint64_t of_pair(uint64_t a, uint64_t b) { return mix(a) + mix(b); }

uint64_t of_v6(const uint8_t* p) { return load_be64(p) * 3 + load_be64(p + 8); }

uint16_t owner_of(uint64_t pair, uint64_t vlans, uint16_t workers) {
  return static_cast<uint16_t>((static_cast<unsigned __int128>(mix(pair + vlans)) * workers) >> 64);
}

}  // namespace

struct Dispatch::Impl {
  struct alignas(RTE_CACHE_LINE_SIZE) Worker {
    std::vector<rte_ring*> to;  ///< by receiver; nullptr for itself
    /// Of one burst, by receiver: the receiver looks at its ring all the time, and each store into it while it
    /// does costs as much as a packet.
    std::vector<std::vector<void*>> staged;
    Idle* idle = nullptr;
    uint64_t dropped = 0;
    void give(uint16_t receiver);
  };
  std::vector<Worker> workers;

  ~Impl() {
    for (Worker& w : workers)
      for (rte_ring* r : w.to) {
        void* p = nullptr;
        while (r != nullptr && rte_ring_sc_dequeue(r, &p) == 0)
          PacketRef::adopt(static_cast<Packet*>(p)).reset();
        rte_ring_free(r);
      }
  }
};

void Dispatch::Impl::Worker::give(uint16_t receiver) {
  std::vector<void*>& packets = staged[receiver];
  const auto n = static_cast<unsigned>(packets.size());
  const unsigned took = rte_ring_sp_enqueue_burst(to[receiver], packets.data(), n, nullptr);
  dropped += n - took;
  for (unsigned i = took; i < n; ++i) PacketRef::adopt(static_cast<Packet*>(packets[i])).reset();
  packets.clear();
}

Dispatch::Dispatch(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Dispatch::~Dispatch() = default;

Result<std::unique_ptr<Dispatch>> Dispatch::create(uint16_t workers, uint32_t ring_packets) {
  auto impl = std::make_unique<Impl>();
  impl->workers = std::vector<Impl::Worker>(workers);
  for (uint16_t from = 0; from < workers; ++from) {
    impl->workers[from].staged.resize(workers);
    for (auto& packets : impl->workers[from].staged) packets.reserve(kUsualBurst);
    for (uint16_t to = 0; to < workers; ++to) {
      rte_ring* ring = nullptr;
      if (from != to) {
        const std::string name = "dispatch_" + std::to_string(from) + "_" + std::to_string(to);
        ring = rte_ring_create(name.c_str(), ring_packets, static_cast<int>(rte_socket_id()),
                               RING_F_SP_ENQ | RING_F_SC_DEQ);
        if (ring == nullptr) {
          return Error{"a ring of " + std::to_string(ring_packets) +
                       " packets between two workers: " + rte_strerror(rte_errno) +
                       "; the size must be a power of two, and DPDK needs memory for it"};
        }
      }
      impl->workers[from].to.push_back(ring);
    }
  }
  return std::unique_ptr<Dispatch>(new Dispatch(std::move(impl)));
}

uint16_t Dispatch::owner_of(const IpAddress& a, const IpAddress& b, uint16_t vlan_outer, uint16_t vlan_inner,
                            uint16_t workers) {
  // As the frame has them: an outer tag alone stands last.
  const uint64_t vlans = vlan_inner != 0 ? (uint64_t{vlan_outer} << 12 | vlan_inner) : vlan_outer;
  const uint64_t pair = a.is_v4() ? of_pair(load_be32(a.b.data() + 12), load_be32(b.b.data() + 12))
                                  : of_pair(of_v6(a.b.data()), of_v6(b.b.data()));
  return io::owner_of(pair, vlans, workers);
}

uint16_t Dispatch::owner(Bytes frame, uint16_t workers) {
  const uint8_t* p = frame.data();
  size_t at = 12;
  uint64_t vlans = 0;
  for (int tags = 0; at + 2 <= frame.size() && tags < 2 && is_vlan(load_be16(p + at)); ++tags, at += 4) {
    if (at + 4 > frame.size()) return 0;
    vlans = (vlans << 12) | (load_be16(p + at + 2) & 0xfffu);
  }
  if (at + 2 > frame.size()) return 0;
  const uint16_t type = load_be16(p + at);
  const uint8_t* ip = p + at + 2;
  const size_t left = frame.size() - at - 2;
  uint64_t pair = 0;
  if (type == kIpv4 && left >= 20)
    pair = of_pair(load_be32(ip + 12), load_be32(ip + 16));
  else if (type == kIpv6 && left >= 40)
    pair = of_pair(of_v6(ip + 8), of_v6(ip + 24));
  else
    return 0;
  return io::owner_of(pair, vlans, workers);
}

void Dispatch::set_idle(uint16_t w, Idle* idle) { impl_->workers[w].idle = idle; }

uint32_t Dispatch::sort(uint16_t me, std::span<PacketRef> burst) {
  Impl::Worker& self = impl_->workers[me];
  const auto workers = static_cast<uint16_t>(impl_->workers.size());
  uint32_t kept = 0;
  for (PacketRef& p : burst) {
    const uint16_t to = owner(p->bytes(), workers);
    if (to == me) {
      PacketRef own = std::move(p);
      burst[kept++] = std::move(own);
      continue;
    }
    self.staged[to].push_back(p.release());
  }
  for (uint16_t w = 0; kept != burst.size() && w < workers; ++w) {
    if (self.staged[w].empty()) continue;
    self.give(w);
    if (impl_->workers[w].idle != nullptr) impl_->workers[w].idle->wake();
  }
  return kept;
}

uint32_t Dispatch::take(uint16_t me, std::span<PacketRef> out) {
  uint32_t n = 0;
  std::array<void*, 64> burst;
  for (Impl::Worker& from : impl_->workers) {
    rte_ring* ring = from.to[me];
    if (ring == nullptr || n == out.size()) continue;
    const auto room = static_cast<unsigned>(std::min<size_t>(out.size() - n, burst.size()));
    const unsigned got = rte_ring_sc_dequeue_burst(ring, burst.data(), room, nullptr);
    for (unsigned i = 0; i < got; ++i) out[n++] = PacketRef::adopt(static_cast<Packet*>(burst[i]));
  }
  return n;
}

uint64_t Dispatch::dropped(uint16_t me) const { return impl_->workers[me].dropped; }

}  // namespace matchrdma::io
