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
  /// Folded products; no secrets, the table is bounded and probes are capped (hostile keys cost no memory).
  uint64_t hash() const {
    const auto [a, b] = src.words();
    const auto [c, d] = dst.words();
    const uint64_t rest =
        (uint64_t{dst_qpn.v} << 32) | (uint64_t{vlan_outer} << 20) | (uint64_t{vlan_inner} << 8) | port_pair;
    const uint64_t from = folded(a ^ 0x9e3779b97f4a7c15, b ^ 0xbf58476d1ce4e5b9);
    return folded(folded(c ^ from, d ^ 0x94d049bb133111eb) ^ rest, 0xd6e8feb86659fd93);
  }

 private:
  static uint64_t folded(uint64_t a, uint64_t b) {
    const auto p = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(p) ^ static_cast<uint64_t>(p >> 64);
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
