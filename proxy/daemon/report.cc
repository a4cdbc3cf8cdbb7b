#include "proxy/daemon/report.h"

#include <algorithm>
#include <utility>

namespace matchrdma::daemon {
namespace {

void add(Counters& to, const Counters& from) {
  for (size_t i = 0; i < to.reasons.n.size(); ++i) to.reasons.n[i] += from.reasons.n[i];
#define MATCHRDMA_X(member, kind, key, unit, help) to.member += from.member;
  MATCHRDMA_COUNTERS(MATCHRDMA_X)
#undef MATCHRDMA_X
}

void add(Latencies& to, const Latencies& from) {
#define MATCHRDMA_X(field, key, help) to.field.add(from.field);
  MATCHRDMA_LATENCIES(MATCHRDMA_X)
#undef MATCHRDMA_X
}

}  // namespace

void report_end(const SpanEnd& end, const std::string& span, WorkerReport& out) {
  const Shard& s = end.shard();
  add(out.view.counters, s.counters());
  add(out.view.latencies, s.latencies());
  out.custody.bytes += s.counters().custody_bytes;
  out.custody.owned_packets += s.counters().custody_packets;
  out.custody.peak_bytes += s.counters().custody_peak;
  out.custody.gate_bytes += s.counters().gate_bytes;
  out.custody.held_bytes += s.counters().held_bytes;
  for (const GroupView& g : s.groups(out.at)) {
    out.budgets.push_back(
        {span, out.view.worker, g.key, g.rate, g.from_peer, g.expired, g.backlog_bytes, g.admitted_bytes});
  }
  SpanReport r;
  r.channel = end.channel().counters();
  r.end = end.counters();
  if (s.rtt_measured()) r.rtt = s.rtt();
  r.last_heard = end.last_heard();
  r.wants_new_session = end.channel().wants_new_session();
  r.path = end.path();
  r.drained = s.drained();
  r.owned_bytes = s.counters().custody_bytes;
  out.spans.push_back(r);
}

void FlowWalk::walk(const SpanEnd& end, const std::string& span, Instant now) {
  const Shard& s = end.shard();
  std::vector<FlowView> piece;
  record_ = s.flows(record_, kRecords, piece);
  for (FlowView& v : piece) {
    if (!v.oldest_owned.is_never()) oldest = std::max(oldest, now - v.oldest_owned);
    flows.push_back({std::move(v), span, worker_});
  }
  if (record_ != 0) return;
  for (Correlation::Report& u : s.unpaired()) unpaired.push_back({std::move(u), span, worker_});
  ++span_;
}

}  // namespace matchrdma::daemon
