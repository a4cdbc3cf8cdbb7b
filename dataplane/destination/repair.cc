#include "dataplane/destination/repair.h"

#include <algorithm>

#include "dataplane/destination/settle.h"

namespace matchrdma {
namespace {

bool unsettled(const DestinationFlow& f) {
  return f.state == DestState::kActive && f.acked_end < f.delivered_end && !f.ring.empty();
}

Instant probe_deadline(const DestinationFlow& f, const RoleCtx& ctx) {
  if (!unsettled(f)) return Instant::never();
  const Duration wait = ctx.timing->receiver_timeout * (int64_t{1} << std::min(f.probes, 6u));
  return later(later(f.last_delivery, f.last_progress), f.rnr_until) + wait;
}

Instant give_up_at(const DestinationFlow& f, const RoleCtx& ctx) {
  // A receiver that was never heard may be reached by another path: much more patience.
  const Duration bound = f.heard ? ctx.timing->repair_bound : ctx.timing->custody_max_age;
  return later(f.last_progress, f.rnr_until) + bound;
}

// The oldest packet alone, asking: if the receiver has it, its ACK tells where it is (not the window again,
// H19).
void probe(DestinationFlow& f, const RoleCtx& ctx) {
  Held& h = f.ring.front();
  ++f.probes;
  f.last_delivery = ctx.now;
  if (h.has(Held::kReadClass) && h.has(Held::kAnswered)) {
    // Some response was lost on the receiver's LAN, or came out of order: the source knows whether the sender
    // has all.
    f.report_now = true;
    return;
  }
  if (!h.has(Held::kDelivered)) return;
  ++ctx.n->probes;
  f.probed = h.end();
  deliver_asking(f, h.packet.share(), Cause::kProbe, ctx);
}

}  // namespace

Duration rnr_timer(uint8_t code) {
  // IBA table 45, in units of 10 us.
  static constexpr int32_t kTens[32] = {65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
                                        48,    64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
                                        2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};
  return Duration::micros(int64_t{kTens[code & 31]} * 10);
}

void redeliver_from(DestinationFlow& f, Seq psn, Cause cause, Egress& egress, const RoleCtx& ctx) {
  const uint64_t i = f.find(psn);
  if (i >= f.deliver_index) return;
  f.deliver_index = i;
  f.redeliver_cause = cause;
  egress.offer(f, ctx);
}

void wait_receiver_not_ready(DestinationFlow& f, Seq psn, uint8_t timer_code, const RoleCtx& ctx) {
  f.rnr_until = ctx.now + rnr_timer(timer_code);
  f.rnr_psn = psn;
  const uint64_t i = f.find(psn);
  if (i < f.deliver_index) {
    f.deliver_index = i;
    f.redeliver_cause = Cause::kReceiverRnr;
  }
}

void fault(DestinationFlow& f, uint8_t syndrome, Egress& egress, const RoleCtx& ctx) {
  ++ctx.n->faults;
  discard_held(f, egress, ctx);
  f.state = DestState::kPoisoned;
  f.gave_up = false;
  f.fault_syndrome = syndrome;
  f.fault_retry_at = ctx.now;
}

void run_repair_timers(DestinationFlow& f, Egress& egress, const RoleCtx& ctx) {
  if (f.fault_retry_at <= ctx.now) {
    ctx.out->message(
        FlowFault{f.id, f.fault_syndrome, f.gave_up, f.acked_end, wire_msn(std::max<int64_t>(f.msn_real, 0))});
    f.fault_retry_at = ctx.now + ctx.answer_wait();
  }
  if (!unsettled(f)) {
    egress.offer(f, ctx);
    return;
  }
  if (give_up_at(f, ctx) <= ctx.now) {
    const Held& oldest = f.ring.front();
    if (oldest.has(Held::kReadClass) && oldest.has(Held::kAnswered)) {
      // The receiver is alive and has executed it; responses came out of order, or their loss is for the sender
      // to find: it asks again (seed 61977).
      settle(f, oldest.end(), ctx);
      egress.offer(f, ctx);
      return;
    }
    fault(f, kNakRemoteOperation, egress, ctx);
    f.gave_up = true;
    return;
  }
  if (f.rnr_until <= ctx.now && f.deliver_index < f.ring.end()) {
    egress.offer(f, ctx);
  }
  if (probe_deadline(f, ctx) <= ctx.now) probe(f, ctx);
}

Instant repair_deadline(const DestinationFlow& f, const RoleCtx& ctx) {
  Instant at = f.fault_retry_at;
  if (!unsettled(f)) return at;
  if (f.rnr_until > ctx.now) at = earlier(at, f.rnr_until);
  at = earlier(at, give_up_at(f, ctx));
  return earlier(at, probe_deadline(f, ctx));
}

}  // namespace matchrdma
