#include "proxy/daemon/report.h"

#include <algorithm>

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

void report_end(const SpanEnd& end, const std::string& span, bool with_flows, Instant now, WorkerReport& out) {
  const Shard& s = end.shard();
  add(out.view.counters, s.counters());
  add(out.view.latencies, s.latencies());
  out.custody.bytes += s.counters().custody_bytes;
  out.custody.peak_bytes += s.counters().custody_peak;
  out.custody.gate_bytes += s.counters().gate_bytes;
  out.custody.held_bytes += s.counters().held_bytes;
  for (const GroupView& g : s.groups()) {
    out.budgets.push_back(
        {span, out.view.worker, g.key, g.rate, g.from_peer, g.backlog_bytes, g.admitted_bytes});
  }
  SpanReport r;
  r.channel = end.channel().counters();
  r.end = end.counters();
  r.rtt = s.rtt();
  r.last_heard = end.last_heard();
  r.wants_new_session = end.channel().wants_new_session();
  r.path = end.path();
  r.drained = s.drained();
  out.spans.push_back(r);
  if (!with_flows) return;
  // These walk every record of the shard.
  out.custody.owned_packets += s.owned_packets();
  if (const Instant oldest = s.oldest_owned(); !oldest.is_never()) {
    out.custody.oldest =
        std::max(out.custody.oldest, now - oldest, [](Duration a, Duration b) { return a.ns < b.ns; });
  }
  for (FlowView& v : s.flows()) out.flows.push_back({std::move(v), span, out.view.worker});
  for (Correlation::Report& u : s.unpaired()) out.unpaired.push_back({std::move(u), span, out.view.worker});
}

}  // namespace matchrdma::daemon
