#include "dataplane/source/fault.h"

#include <algorithm>

#include "dataplane/source/acknowledge.h"
#include "dataplane/source/custody.h"

namespace matchrdma {
namespace {

/// A sender whose newest request is younger has not stopped.
constexpr Duration kStillMoving = Duration::seconds(1);
/// A LAN may lose or reorder the head of a round of retransmissions, but not of so many.
constexpr uint32_t kRounds = 3;

// The sender's oldest outstanding PSN, better than we can know it: it may have taken a response that we did not
// count, and ignores a NAK below. But a NAK above it acknowledges what is in between, which nobody may have
// (swarm seed 5000732): it rises only to what no round went below.
void follow_sender(SourceFlow& f, Seq psn, bool paused) {
  if (psn < f.fault_psn) f.fault_psn = psn;
  if (paused && f.fault_round_oldest != INT64_MAX) {
    f.fault_oldest = std::min(f.fault_oldest, f.fault_round_oldest);
    if (++f.fault_rounds >= kRounds) {
      f.fault_psn = std::max(f.fault_psn, f.fault_oldest);
      f.fault_rounds = 0;
      f.fault_oldest = INT64_MAX;
    }
  }
  f.fault_round_oldest = paused ? psn : std::min(f.fault_round_oldest, psn);
}

}  // namespace

void on_request_poisoned(SourceFlow& f, const Frame& req, const RoleCtx& ctx) {
  if (!f.ack_frame.prepared()) f.set_ack_form(AckTemplate::mirrored(req));
  const bool paused = f.last_request() + kRetransmissionPause <= ctx.now;
  f.set_last_request(ctx.now);
  follow_sender(f, unwrap24(req.psn().v, f.fault_psn), paused);
  give_fault_nak(f, ctx);
}

void poison(SourceFlow& f, uint8_t syndrome, Gate& gate, const RoleCtx& ctx) {
  if (f.state == FlowState::kPoisoned) return;
  ++ctx.n->faults;
  f.set_last_request(later(f.last_request(), ctx.now));
  // The oldest PSN the sender has outstanding; inside a READ its next expected response, so that the fault
  // never stands in the middle of a response stream.
  f.fault_psn = f.acked_end;
  for (uint64_t i = f.reads.begin(); i < f.reads.end(); ++i) {
    if (f.reads[i].complete()) continue;
    if (f.fault_psn >= f.reads[i].begin) f.fault_psn = f.reads[i].next_response;
    break;
  }
  f.fault_msn = std::max<int64_t>(messages_below(f, f.fault_psn), 0);  // never less than was told
  f.fault_syndrome = syndrome;
  f.fault_round_oldest = f.fault_oldest = INT64_MAX;
  f.fault_rounds = 0;
  const bool known = f.tracked() || f.state == FlowState::kDoubted;
  const bool outstanding = known && std::max(f.epsn, f.seen_end()) > f.fault_psn;
  discard_owned(f, gate, ctx);
  f.reads.clear();
  // An unanswered CLOSE is repeated all the same: the far side waits for its marker (seed 74698).
  if (f.state != FlowState::kClosing) f.retry_at = Instant::never();
  f.fire(FlowEvent::kFault);
  if (outstanding) {
    give_fault_nak(f, ctx);
  } else if (known) {
    ++ctx.n->idle_fault_events;
  }
}

void doubt(SourceFlow& f, uint8_t syndrome, Gate& gate, const RoleCtx& ctx) {
  f.fault_syndrome = syndrome;
  f.fault_last_seen = std::max(f.seen_end(), f.acked_end);
  f.doubt_ends = ctx.now + ctx.timing->doubt_wait;
  f.moved_on = Instant{-1'000'000'000'000};
  gate.remove(f);
  f.retry_at = Instant::never();
  f.fire(FlowEvent::kDoubt);
}

Verdict on_request_doubted(SourceFlow& f, const Frame& req, const RoleCtx& ctx) {
  const Seq psn = unwrap24(req.psn().v, f.fault_last_seen);
  const bool again = psn < f.fault_last_seen;
  // A sender without an answer goes back to the oldest PSN that nobody acknowledged: the end of our last ACK.
  if (again && psn <= f.acked_end) return Verdict::kFailed;
  f.fault_last_seen = std::max(f.fault_last_seen, psn + psn_count(req, f.path_mtu));
  // Beyond it, also again: somebody else acknowledged what stands between.
  if (psn > f.acked_end) f.moved_on = ctx.now;
  return Verdict::kOpen;
}

Verdict judge(const SourceFlow& f, Instant now) {
  if (f.doubt_ends > now) return Verdict::kOpen;
  return f.moved_on + kStillMoving >= now ? Verdict::kElsewhere : Verdict::kFailed;
}

}  // namespace matchrdma
