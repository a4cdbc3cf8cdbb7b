#include "dataplane/destination/report.h"

#include <algorithm>
#include <iterator>

#include "dataplane/destination/reorder.h"

namespace matchrdma {
namespace {

constexpr uint32_t kMostHeaders = 128;  ///< bytes around the payload of one packet

Duration repeat_every(const RoleCtx& ctx) {
  return ctx.crowded({std::max((ctx.rtt / 4).ns, Duration::millis(1).ns)}, ctx.rtt + ctx.rtt / 2);
}

// Progress alone lets the source forget packets, which is no hurry: where many flows have few packets each in a
// round trip, a report for every one of them would cost more than the packets.
Duration progress_wait(const DestinationFlow& f, const RoleCtx& ctx) {
  constexpr Seq kManyPackets = 32;
  const Duration least = ctx.timing->custody_ack_interval;
  const bool asked =
      f.prompt || !f.beyond.empty() || f.marked_end > f.expected || f.short_of_memory || f.report_from != 0;
  if (asked || f.acked_end - f.reported_end >= kManyPackets) return least;
  return ctx.crowded(least, ctx.rtt / 4);
}

// Asking for more than there is room for would have the source send it again and again while the receiver
// stands still. The next in order finds room where nothing of the flow is held, or what stands behind it gives
// way.
Seq bound_by_memory(DestinationFlow& f, const RoleCtx& ctx) {
  if (f.held_bytes + f.beyond.bytes() == 0) f.short_of_memory = false;
  if (!f.short_of_memory) return INT64_MAX;
  // For what comes in order all that stands behind holes gives way. Hole by hole, a receiver that was overrun
  // once got one packet each round trip.
  const uint64_t packets = (reorder_room(f, ctx) + f.beyond.bytes()) / (f.path_mtu + kMostHeaders);
  const int64_t least = f.ring.empty() || !f.beyond.empty() ? 1 : 0;
  return f.expected + std::max(static_cast<int64_t>(packets), least);
}

// One report holds so many ranges; what lies above is told by the next, and then again from the beginning.
void fill_ranges(DestinationFlow& f, CustodyAck& a) {
  const SeqMap<Seq>& all = f.beyond.ranges();
  auto r = all.upper_bound(f.report_from);
  if (r == all.end()) r = all.begin();
  a.known_begin = r == all.begin() ? f.expected : std::prev(r)->second;
  for (; r != all.end() && a.ranges < CustodyAck::kRanges; ++r) a.range[a.ranges++] = {r->first, r->second};
  a.known_end = r == all.end() ? INT64_MAX : r->first;
  f.report_from = r == all.end() ? 0 : std::prev(r)->first;
}

}  // namespace

void on_mark(DestinationFlow& f, const SentMark& m, Egress& egress, const RoleCtx& ctx) {
  if (f.state == DestState::kActive && m.confirmed_end <= m.highest_end)
    skip_to(f, m.confirmed_end, egress, ctx);
  if (m.seq > f.mark_seen) {
    f.mark_seen = m.seq;
    f.marked_end = m.highest_end;
    // A mark is news to the source only while something is missing or it waits for its own echo.
    if (m.highest_end > f.expected || !f.beyond.empty()) f.report_dirty = true;
  }
  f.report_echoed = std::max(f.report_echoed, m.ack_echo);
}

void run_report_timer(DestinationFlow& f, const RoleCtx& ctx) {
  if (report_deadline(f, ctx) > ctx.now) return;
  CustodyAck& a = ctx.out->message<CustodyAck>();
  a.id = f.id;
  a.seq = ++f.report_seq;
  if (f.report_dirty || f.report_now) f.report_news = a.seq;
  a.confirmed_end = f.acked_end;
  a.received_end = f.expected;
  fill_ranges(f, a);
  a.known_end = std::min(a.known_end, bound_by_memory(f, ctx));
  // All is there that was sent before the newest mark: nothing can be proven lost, and the source need not
  // look.
  if (f.marked_end <= f.expected && f.beyond.empty()) a.known_end = f.expected;
  if (f.msn_real >= 0) {
    a.msn_known = true;
    a.msn_real = wire_msn(f.msn_real);
    a.credits = f.credits;
  }
  a.mark_echo = f.mark_seen;
  if (f.form_since > f.report_echoed) a.form = f.form;
  f.last_report = ctx.now;
  f.reported_end = f.acked_end;
  f.news_since = Instant::never();
  f.report_dirty = f.report_from != 0;  // there are more holes than it could hold
  f.report_now = false;
}

Instant report_deadline(DestinationFlow& f, const RoleCtx& ctx) {
  if (f.state != DestState::kActive) return Instant::never();
  if (f.report_now && f.last_report < ctx.now) return ctx.now;
  if (f.report_now) return f.last_report + ctx.timing->custody_ack_interval;
  if (f.report_dirty) {
    const Duration wait = progress_wait(f, ctx);
    if (f.news_since.is_never()) f.news_since = ctx.now;
    return later(f.last_report + ctx.timing->custody_ack_interval, f.news_since + wait);
  }
  if (f.report_news > f.report_echoed) return f.last_report + repeat_every(ctx);
  return Instant::never();
}

}  // namespace matchrdma
