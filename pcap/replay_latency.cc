#include "pcap/replay_latency.h"

#include "pcap/replay_causality.h"

namespace matchrdma {

ReplayLatency::ReplayLatency(const TraceFlows& flows, const ReplayFence& fence, Duration round_trip)
    : flows_(flows), fence_(fence), round_trip_(round_trip), state_(flows.streams().size()) {
  for (size_t i = 0; i < state_.size(); ++i) state_[i].next = state_[i].end = flows.streams()[i].first;
}

Seq ReplayLatency::covered_end(const PacketView& v, const Flow& f) const {
  const Seq psn = unwrap24(v.frame().psn().v, f.end);
  return psn + (v.positive_ack() ? 1 : 0);
}

void ReplayLatency::settle(std::deque<Waiting>& waiting, Seq end, Instant now, Duration extra,
                           std::initializer_list<LatencyHistogram*> to) {
  while (!waiting.empty() && waiting.front().seq < end) {
    for (LatencyHistogram* h : to) h->add(now - waiting.front().since + extra);
    waiting.pop_front();
  }
}

void ReplayLatency::entered(const PacketView& v, Instant captured, Instant now) {
  if (v.answer()) {
    const int stream = flows_.streams()[static_cast<size_t>(v.stream)].partner;
    if (stream < 0) return;
    Flow& f = state_[static_cast<size_t>(stream)];
    settle(f.without, covered_end(v, f), captured, round_trip_, {&without_});
    return;
  }
  if (!v.request() || flows_.streams()[static_cast<size_t>(v.stream)].partner < 0) return;
  Flow& f = state_[static_cast<size_t>(v.stream)];
  const Seq seq = place_psn(v.frame().psn(), f.end);
  // Expected and never seen before: what comes again after a gap is not measured.
  const bool in_order = seq == f.next && seq >= f.end;
  const TraceStream& s = flows_.streams()[static_cast<size_t>(v.stream)];
  const Seq behind = seq + (v.read_request() ? read_psns(v.frame(), s.path_mtu) : 1);
  f.end = std::max(f.end, behind);
  if (seq == f.next) f.next = behind;
  const OpcodeInfo& info = v.frame().info();
  if (!in_order || info.read_class || !info.ends_message() || fence_.first_unanswered(v.stream)) return;
  if (f.with.size() >= kMaxWaiting || f.without.size() >= kMaxWaiting) return;
  f.with.push_back({seq, now});
  f.without.push_back({seq, captured});
}

void ReplayLatency::left(const PacketView& v, Cause cause, Instant now) {
  if (!v.answer()) return;
  const int stream = flows_.streams()[static_cast<size_t>(v.stream)].partner;
  if (stream < 0) return;
  Flow& f = state_[static_cast<size_t>(stream)];
  const bool ours = cause == Cause::kPseudoAck || cause == Cause::kPseudoNak;
  settle(f.with, covered_end(v, f), now, {}, {&with_, ours ? &by_proxy_ : &by_receiver_});
}

Percentiles ReplayLatency::percentiles(const LatencyHistogram& h) {
  return {h.samples(), h.percentile(50), h.percentile(99), h.max()};
}

}  // namespace matchrdma
