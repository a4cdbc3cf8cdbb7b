#pragma once
// How the values inside messages look on the wire, and the rules they obey. Each function serves both archives.
#include "controlplane/channel/archive.h"
#include "dataplane/flow/ack_template.h"
#include "dataplane/flow/flow_key.h"
#include "dataplane/flow/message.h"

namespace matchrdma::layout {

/// Sequence numbers, times and rates stay so far from the ends of int64 that the core may add to them.
inline constexpr int64_t kFar = int64_t{1} << 62;

template <class A>
void flag(A& a, In<A, bool>& b) {
  uint8_t v = A::kWrites && b ? 1 : 0;
  a.u8(v);
  a.require(v <= 1);
  if constexpr (!A::kWrites) b = v == 1;
}

template <class A, class E>
void enumeration(A& a, E& e, std::remove_const_t<E> last) {
  auto v = static_cast<uint8_t>(e);
  a.u8(v);
  a.require(v <= static_cast<uint8_t>(last));
  if constexpr (!A::kWrites) e = static_cast<E>(v);
}

/// A number in [low, high].
template <class A>
void bounded(A& a, In<A, int64_t>& v, int64_t low, int64_t high) {
  a.i64(v);
  a.require(v >= low && v <= high);
}
template <class A>
void seq(A& a, In<A, Seq>& v) {
  bounded(a, v, 0, kFar);
}
template <class A>
void instant(A& a, In<A, Instant>& t) {
  bounded(a, t.ns, -kFar, kFar);
}
template <class A>
void flow_id(A& a, In<A, FlowId>& id) {
  a.u64(id.v);
}
template <class A>
void vlan_id(A& a, In<A, uint16_t>& v) {
  a.u16(v);
  a.require(v <= 0xfff);  // IEEE 802.1Q: 12 bits
}

/// IBA 9.6.1.1: the path MTUs there are. Also guards every division by it.
template <class A>
void path_mtu(A& a, In<A, uint32_t>& v) {
  a.u32(v);
  a.require(legal_path_mtu(v));
}

/// IPv4 as 4 bytes, IPv6 as 16. The mapped form has one spelling only, so equal addresses are equal bytes.
template <class A>
void address_as(A& a, In<A, IpAddress>& ip, bool v4) {
  if (!v4) {
    a.bytes(ip.b);
    a.require(!ip.is_v4());
    return;
  }
  std::array<uint8_t, 4> b{};
  if constexpr (A::kWrites) {
    a.require(ip.is_v4());
    std::memcpy(b.data(), ip.b.data() + 12, 4);
  }
  a.bytes(b);
  if constexpr (!A::kWrites) ip = IpAddress::v4(b.data());
}
template <class A>
void address(A& a, In<A, IpAddress>& ip) {
  bool v4 = A::kWrites && ip.is_v4();
  flag(a, v4);
  address_as(a, ip, v4);
}
/// Two addresses of one packet: of one family, or no frame could be built from them.
template <class A>
void address_pair(A& a, In<A, IpAddress>& x, In<A, IpAddress>& y) {
  bool v4 = A::kWrites && x.is_v4();
  flag(a, v4);
  address_as(a, x, v4);
  address_as(a, y, v4);
}

template <class A>
void flow_key(A& a, In<A, FlowKey>& k) {
  address_pair(a, k.src, k.dst);
  a.u24(k.dst_qpn.v);
  vlan_id(a, k.vlan_outer);
  vlan_id(a, k.vlan_inner);
  a.u16(k.port_pair);
}

template <class A>
void group_key(A& a, In<A, GroupKey>& k) {
  address(a, k.dst);
  vlan_id(a, k.vlan_outer);
  vlan_id(a, k.vlan_inner);
  a.u16(k.port_pair);
}

template <class A>
void vlan_tags(A& a, In<A, L2L3>& l) {
  auto tags = static_cast<uint8_t>(l.vlan_tags);
  a.u8(tags);
  a.require(tags <= 2 && (!A::kWrites || l.vlan_tags == tags));
  if (!a.ok()) return;
  if constexpr (!A::kWrites) l.vlan_tags = tags;
  for (size_t i = 0; i < tags; ++i) {
    a.u16(l.vlan_tpid[i]);
    a.require(l.vlan_tpid[i] == 0x8100 || l.vlan_tpid[i] == 0x88a8 || l.vlan_tpid[i] == 0x9100);
    a.u16(l.vlan_tci[i]);
  }
}

/// One byte while unknown; without the tags, address bytes and flow label that the packet would not have.
template <class A>
void ack_template(A& a, In<A, AckTemplate>& t) {
  flag(a, t.known);
  if (!t.known) return;
  a.bytes(t.net.mac_dst);
  a.bytes(t.net.mac_src);
  vlan_tags(a, t.net);
  address_pair(a, t.net.src, t.net.dst);
  a.u8(t.net.traffic_class);
  a.u8(t.net.hop_limit);
  if (!t.net.src.is_v4()) {
    a.u24(t.net.flow_label);
    a.require(t.net.flow_label <= 0xfffff);  // RFC 8200 3: 20 bits
  }
  a.u16(t.net.udp_source_port);
  flag(a, t.net.udp_checksum);
  a.u16(t.pkey);
  flag(a, t.mig_req);
}

template <class A>
void end_of(A& a, In<A, Registration::End>& e) {
  a.u24(e.qpn.v);
  flag(a, e.has_start);
  a.u24(e.start.v);
  bounded(a, e.msn, 0, kFar);
}

template <class A>
void completion_asked_for(A& a, In<A, std::optional<Completion>>& c) {
  uint8_t v = A::kWrites && c ? static_cast<uint8_t>(1 + static_cast<uint8_t>(*c)) : 0;
  a.u8(v);
  a.require(v <= 1 + static_cast<uint8_t>(Completion::kEndToEnd));
  if constexpr (!A::kWrites) {
    c.reset();
    if (v != 0) c = static_cast<Completion>(v - 1);
  }
}

template <class A>
void registration(A& a, In<A, Registration>& r) {
  address_pair(a, r.a.ip, r.b.ip);
  end_of(a, r.a);
  end_of(a, r.b);
  vlan_id(a, r.vlan_outer);
  vlan_id(a, r.vlan_inner);
  a.u16(r.port_pair);
  // 0 ends a pair: only who begins one must know it.
  a.u32(r.path_mtu);
  a.require(r.path_mtu == 0 || legal_path_mtu(r.path_mtu));
  flag(a, r.credits);
  completion_asked_for(a, r.completion);
}

}  // namespace matchrdma::layout
