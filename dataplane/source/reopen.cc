#include "dataplane/source/reopen.h"

#include "dataplane/source/activate.h"
#include "dataplane/source/custody.h"

namespace matchrdma {
namespace {

constexpr Duration kAskAgain = Duration::seconds(1);

// The far side starts counting reports and marks anew.
void forget_far_side(SourceFlow& f, Seq base) {
  f.reopen_base = f.far_received_end = base;
  f.ack_echo = 0;
  f.rto_backoff = 0;
  f.rto_at = Instant::never();
}

}  // namespace

void reopen(SourceFlow& f, FlowId id, Gate& gate, const RoleCtx& ctx) {
  gate.remove(f);
  f.id = id;
  f.reopen_base = -1;
  if (f.state != FlowState::kReopening) f.reopen_until = ctx.now + ctx.timing->custody_max_age;
  f.fire(FlowEvent::kPeerStarted);
  say_handshake(f, ctx);
}

void on_opened_again(SourceFlow& f, const FlowOpened& m, const RoleCtx& ctx) {
  if (f.reopen_base >= 0) return;
  if (m.answer != OpenAnswer::kAccepted) {
    f.retry_at = ctx.now + kAskAgain;  // custody waits until there is room, or reopen_until
    return;
  }
  forget_far_side(f, f.confirmed_end);
  say_handshake(f, ctx);
}

void finish_reopening(SourceFlow& f, Gate& gate, const RoleCtx& ctx) {
  if (f.state != FlowState::kReopening || f.owns()) return;
  if (f.draining) {
    leave_alone(f, gate, ctx);
  } else {
    start_over(f, gate, ctx);
  }
}

void on_base_answered_again(SourceFlow& f, const FlowBaseAck& m, Gate& gate, const RoleCtx& ctx) {
  if (m.base != f.reopen_base) return;
  f.lifted_answered = false;
  f.lifted_end = f.reopen_base;
  f.fire(FlowEvent::kReopened);
  say_handshake(f, ctx);
  resend_from(f, f.confirmed_end, gate, ctx);
  gate.offer(f, ctx);
}

}  // namespace matchrdma
