#include "dataplane/destination/session.h"

#include "dataplane/destination/reorder.h"
#include "dataplane/destination/settle.h"

namespace matchrdma {
namespace {

// Nobody has tested what this receiver takes, and the estimator says something only when something came: until
// then the source may not begin with more than a quarter (ESTIMATOR 6).
void say_first_budget(const EgressGroup& g, const RoleCtx& ctx) {
  constexpr Duration kUntilTheFirstSlot = Duration::seconds(3600);
  ctx.out->message(Budget{g.key, Rate{ctx.tuning->egress.bps / 4}, kUntilTheFirstSlot, 0});
}

}  // namespace

void on_open(DestinationFlow& f, const FlowOpen& m, Egress& egress, const RoleCtx& ctx) {
  if (f.id != m.id || f.state == DestState::kIdle) {
    discard_held(f, egress, ctx);
    f.id = m.id;
    f.path_mtu = m.path_mtu;
    f.prompt = m.completion == Completion::kEndToEnd;
    f.reopened = m.again;
    f.acked_end = 0;  // of the id before; a fault may come before its BASE
    f.msn_real = -1;
    const bool first = egress.find(GroupKey::of(f.key)) == nullptr;
    f.group = egress.group(GroupKey::of(f.key), ctx);
    if (first && f.group != nullptr && ctx.tuning->slot.ns > 0) say_first_budget(*f.group, ctx);
    f.state = DestState::kOpened;
  }
  ctx.out->message(FlowOpened{m.id, f.group != nullptr ? OpenAnswer::kAccepted : OpenAnswer::kRefused});
  if (f.group == nullptr) f.state = DestState::kIdle;
}

void on_base(DestinationFlow& f, const FlowBase& m, const RoleCtx& ctx) {
  if (f.id != m.id) return;
  if (f.state == DestState::kOpened) {
    f.base = f.expected = f.delivered_end = f.acked_end = f.marked_end = m.base;
    f.msn_real = -1;
    f.heard = m.heard;
    f.since_ack_req = f.reacks_due = f.probes = 0;
    f.probed = -1;
    f.form = {};
    f.form_since = 0;
    f.rnr_until = Instant{};
    f.rnr_psn = -1;
    f.reported_end = m.base;
    f.report_seq = f.report_news = f.report_echoed = f.mark_seen = 0;
    f.last_progress = f.last_delivery = ctx.now;
    f.state = m.fresh ? DestState::kActive : DestState::kTracking;
  }
  if (f.tracking() && f.base == m.base) ctx.out->message(FlowBaseAck{m.id, m.base});
}

void on_lifted(DestinationFlow& f, const FlowLifted& m, Egress& egress, const RoleCtx& ctx) {
  if (f.id != m.id) return;
  if (f.state == DestState::kTracking) {
    f.state = DestState::kActive;
    skip_to(f, m.end, egress, ctx);
    f.last_progress = ctx.now;
    f.report_dirty = true;
  }
  if (f.state == DestState::kActive) ctx.out->message(FlowLiftedAck{m.id});
}

void on_close(DestinationFlow& f, const FlowClose& m, Egress& egress, const RoleCtx& ctx) {
  if (f.id != m.id || f.state == DestState::kIdle) {
    ctx.out->message(FlowClosed{m.id});
    return;
  }
  if (f.state == DestState::kClosing) {
    f.closing_passes = f.closing_passes && m.same_life;
    return;
  }
  f.closing_passes = m.same_life;
  discard_held(f, egress, ctx);
  f.fault_retry_at = Instant::never();
  f.state = DestState::kClosing;
  f.marker_seen = f.early_marker == m.id;
  f.marker_at = ctx.now;
}

void on_close_marker(DestinationFlow& f, const CloseMarker& m, const RoleCtx& ctx) {
  // Data and control race: the marker may come before its CLOSE.
  f.early_marker = m.id;
  if (f.id != m.id || f.state != DestState::kClosing || f.marker_seen) return;
  f.marker_seen = true;
  f.marker_at = ctx.now;
}

void run_session_timer(DestinationFlow& f, const RoleCtx& ctx) {
  if (session_deadline(f, ctx) > ctx.now) return;
  f.state = DestState::kIdle;
  f.marker_seen = false;
  ctx.out->message(FlowClosed{f.id});
}

Instant session_deadline(const DestinationFlow& f, const RoleCtx& ctx) {
  if (f.state != DestState::kClosing || !f.marker_seen) return Instant::never();
  return f.marker_at + ctx.timing->reorder_window;
}

}  // namespace matchrdma
