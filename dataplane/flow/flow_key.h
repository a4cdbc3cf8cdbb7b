#pragma once
// Identity of one direction of one RC QP (PROTOCOL 1, H16): VLANs and addresses belong to it, so that the same
// QPN in another tenant or at the other end is another flow.
#include <cstdint>
#include <cstring>

#include "dataplane/base/types.h"
#include "dataplane/wire/frame.h"

namespace matchrdma {

struct FlowKey {
  IpAddress src, dst;
  Qpn dst_qpn;
  uint16_t vlan_outer = 0, vlan_inner = 0;
  uint16_t port_pair = 0;
  bool operator==(const FlowKey&) const = default;

  static FlowKey of(const Frame& f, uint16_t port_pair) {
    return {f.source(), f.destination(), f.dest_qp(), f.vlan_id(0), f.vlan_id(1), port_pair};
  }
  /// Multiplicative mix; no secrets, the table is bounded and probes are capped (hostile keys cost no memory).
  uint64_t hash() const {
    uint64_t a, b, c, d;
    std::memcpy(&a, src.b.data(), 8);
    std::memcpy(&b, src.b.data() + 8, 8);
    std::memcpy(&c, dst.b.data(), 8);
    std::memcpy(&d, dst.b.data() + 8, 8);
    uint64_t h =
        (uint64_t{dst_qpn.v} << 32) | (uint64_t{vlan_outer} << 20) | (uint64_t{vlan_inner} << 8) | port_pair;
    for (const uint64_t w : {a, b, c, d}) h = (h ^ w) * 0x9e3779b97f4a7c15ull, h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9ull;
    return h ^ (h >> 32);
  }
};

/// Receiver a budget is given for (PROTOCOL 1, "budget group").
struct GroupKey {
  IpAddress dst;
  uint16_t vlan_outer = 0, vlan_inner = 0;
  uint16_t port_pair = 0;
  bool operator==(const GroupKey&) const = default;
  static GroupKey of(const FlowKey& k) { return {k.dst, k.vlan_outer, k.vlan_inner, k.port_pair}; }
};

}  // namespace matchrdma
