#pragma once
// How every typed message looks on the wire: one line in the list, one fields() function. The same function
// writes and reads, and states the rules a message obeys; a message that breaks one is neither sent nor
// believed.
#include "controlplane/channel/layout.h"

namespace matchrdma::layout {

/// Numbers are never used twice: a type that is retired leaves a hole.
#define MATCHRDMA_MESSAGES(X) \
  X(1, FlowOpen)              \
  X(2, FlowOpened)            \
  X(3, FlowBase)              \
  X(4, FlowBaseAck)           \
  X(5, FlowLifted)            \
  X(6, FlowLiftedAck)         \
  X(7, FlowClose)             \
  X(8, FlowClosed)            \
  X(9, CloseMarker)           \
  X(10, SentMark)             \
  X(11, CustodyAck)           \
  X(12, FlowFault)            \
  X(13, FlowFaultAck)         \
  X(14, RegisterQp)           \
  X(15, RegisterQpAck)        \
  X(16, Budget)               \
  X(17, Probe)                \
  X(18, ProbeAck)             \
  X(19, UnregisterQp)         \
  X(20, UnregisterQpAck)      \
  X(21, FlowContradicted)     \
  X(22, Drain)                \
  X(23, DrainAck)

/// Only those in use. Their starts ascend; ends may overlap where a sender's requests do.
template <class A>
void ranges(A& a, In<A, CustodyAck>& m) {
  auto count = static_cast<uint8_t>(m.ranges);
  a.u8(count);
  a.require(count <= CustodyAck::kRanges && (!A::kWrites || m.ranges == count));
  if (!a.ok()) return;
  if constexpr (!A::kWrites) m.ranges = count;
  for (size_t i = 0; i < count; ++i) {
    seq(a, m.range[i].begin);
    seq(a, m.range[i].end);
    a.require(m.range[i].begin < m.range[i].end);
    a.require(i == 0 || m.range[i - 1].begin < m.range[i].begin);
  }
}

template <class A>
void fields(A& a, In<A, Drain>& m) {
  flag(a, m.on);
}
template <class A>
void fields(A& a, In<A, DrainAck>& m) {
  flag(a, m.on);
}
template <class A>
void fields(A& a, In<A, FlowOpen>& m) {
  flow_id(a, m.id);
  flow_key(a, m.key);
  a.u24(m.sender_qpn.v);
  path_mtu(a, m.path_mtu);
  enumeration(a, m.completion, Completion::kEndToEnd);
  flag(a, m.credits);
  flag(a, m.vouched);
  flag(a, m.again);
}
template <class A>
void fields(A& a, In<A, FlowOpened>& m) {
  flow_id(a, m.id);
  enumeration(a, m.answer, OpenAnswer::kNotOnPath);
}
template <class A>
void fields(A& a, In<A, FlowBase>& m) {
  flow_id(a, m.id);
  seq(a, m.base);
  flag(a, m.fresh);
  flag(a, m.heard);
}
template <class A>
void fields(A& a, In<A, FlowBaseAck>& m) {
  flow_id(a, m.id);
  seq(a, m.base);
}
template <class A>
void fields(A& a, In<A, FlowLifted>& m) {
  flow_id(a, m.id);
  seq(a, m.end);
}
template <class A>
void fields(A& a, In<A, FlowLiftedAck>& m) {
  flow_id(a, m.id);
}
template <class A>
void fields(A& a, In<A, FlowClose>& m) {
  flow_id(a, m.id);
  flag(a, m.whole_qp);
  flag(a, m.same_life);
}
template <class A>
void fields(A& a, In<A, FlowClosed>& m) {
  flow_id(a, m.id);
}
template <class A>
void fields(A& a, In<A, CloseMarker>& m) {
  flow_id(a, m.id);
}
template <class A>
void fields(A& a, In<A, SentMark>& m) {
  flow_id(a, m.id);
  a.u64(m.seq);
  seq(a, m.highest_end);
  seq(a, m.confirmed_end);
  a.u64(m.ack_echo);
}
template <class A>
void fields(A& a, In<A, CustodyAck>& m) {
  flow_id(a, m.id);
  a.u64(m.seq);
  seq(a, m.confirmed_end);
  seq(a, m.received_end);
  ranges(a, m);
  bounded(a, m.known_begin, 0, INT64_MAX);
  bounded(a, m.known_end, 0, INT64_MAX);  // INT64_MAX: everything is known
  flag(a, m.msn_known);
  a.u24(m.msn_real.v);
  a.u8(m.credits);
  a.require(m.credits <= 31);  // IBA 9.7.5.2.3: a 5-bit code
  a.u64(m.mark_echo);
  ack_template(a, m.form);
}
template <class A>
void fields(A& a, In<A, FlowFault>& m) {
  flow_id(a, m.id);
  a.u8(m.syndrome);
  flag(a, m.gave_up);
  seq(a, m.confirmed_end);
  a.u24(m.msn_real.v);
}
template <class A>
void fields(A& a, In<A, FlowFaultAck>& m) {
  flow_id(a, m.id);
}
template <class A>
void fields(A& a, In<A, RegisterQp>& m) {
  registration(a, m.reg);
  a.u64(m.seq);
}
template <class A>
void fields(A& a, In<A, RegisterQpAck>& m) {
  registration(a, m.reg);
}
template <class A>
void fields(A& a, In<A, UnregisterQp>& m) {
  registration(a, m.reg);
  a.u64(m.seq);
}
template <class A>
void fields(A& a, In<A, UnregisterQpAck>& m) {
  registration(a, m.reg);
}
template <class A>
void fields(A& a, In<A, FlowContradicted>& m) {
  flow_id(a, m.id);
}
template <class A>
void fields(A& a, In<A, Budget>& m) {
  group_key(a, m.group);
  bounded(a, m.rate.bps, 0, kFar);
  bounded(a, m.validity.ns, 0, kFar);
  a.u64(m.seq);
}
template <class A>
void fields(A& a, In<A, Probe>& m) {
  instant(a, m.t1);
}
template <class A>
void fields(A& a, In<A, ProbeAck>& m) {
  instant(a, m.t1);
  instant(a, m.t2);
  instant(a, m.t3);
}

}  // namespace matchrdma::layout
