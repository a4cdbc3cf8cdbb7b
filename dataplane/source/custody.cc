#include "dataplane/source/custody.h"

#include <algorithm>

#include "dataplane/source/acknowledge.h"

namespace matchrdma {
namespace {

void remember_confirmed(SourceFlow& f, const Owned& o, const RoleCtx& ctx) {
  if (o.has(Owned::kReadClass)) return;  // their ranges are remembered in `reads`
  while (f.confirmed.size() >= ctx.limits->confirmed_per_flow) f.confirmed.pop_front();
  if (!f.confirmed.push_back({o.psn, o.header_hash, o.payload}) && !f.confirmed.empty()) {
    // The worker's pool is used up: this flow's oldest entry makes room, its other entries stay useful.
    f.confirmed.pop_front();
  }
}

/// Duty: sums up what is no longer owned, and takes it off all counts at once.
class Uncounted {
 public:
  Uncounted(SourceFlow& f, const RoleCtx& ctx) : f_(f), ctx_(ctx) {}
  Uncounted(const Uncounted&) = delete;
  ~Uncounted() {
    f_.resend_pending -= resend_;
    f_.owned_bytes -= bytes_;
    ctx_.n->custody_bytes -= bytes_;
    ctx_.n->custody_packets -= packets_;
  }
  void add(const Owned& o) {
    resend_ += o.has(Owned::kResend) ? 1 : 0;
    bytes_ += o.packet->size;
    ++packets_;
  }

 private:
  SourceFlow& f_;
  const RoleCtx& ctx_;
  uint32_t resend_ = 0;
  uint64_t bytes_ = 0, packets_ = 0;
};

void uncount_gated(SourceFlow& f, uint64_t bytes, const RoleCtx& ctx) {
  if (f.group != nullptr) f.group->backlog_bytes -= bytes;
  ctx.n->gate_bytes -= bytes;
  f.gate_bytes -= bytes;
}

void forget_gap(SourceFlow& f) {
  f.gap.clear();
  f.gap_since = Instant::never();
  f.gap_nak = SourceFlow::GapNak::kNone;
  f.chosen_drop = -1;
}

void flag_resend(SourceFlow& f, uint64_t i) {
  Owned& o = f.window[i];
  if (o.has(Owned::kResend) || i >= f.admit_index()) return;
  o.flags |= Owned::kResend;
  ++f.resend_pending;
  f.resend_scan = std::min(f.resend_scan, i);
}

// A mark's number is its time.
Instant mark_time(const SourceFlow& f, uint64_t seq) {
  return seq != 0 && seq <= f.mark_seq ? Instant{static_cast<int64_t>(seq)} : Instant{INT64_MIN};
}

/// Duty: looks at holes, a bounded number of packets for each report; the cursor goes on with the next one.
class HoleScan {
 public:
  HoleScan(SourceFlow& f, Instant marked, const RoleCtx& ctx) : f_(f), marked_(marked), ctx_(ctx) {}

  /// [begin, end) is missing at the destination. False: enough for now.
  bool look(Seq begin, Seq end) {
    for (uint64_t i = first_ending_above(f_.window, begin); i < f_.admit_index() && f_.window[i].psn < end;
         ++i) {
      if (left_-- == 0) {
        f_.repair_cursor = f_.window[i].psn;
        return false;
      }
      const Owned& o = f_.window[i];
      if (o.has(Owned::kResend)) continue;
      if (lost(o)) {
        flag_resend(f_, i);
      } else if (end == INT64_MAX) {
        return true;  // behind all that has come: on its way, and so is what was sent after it
      }
    }
    return true;
  }

 private:
  /// H2: a hole is lost only if a mark that was sent reorder_window after the packet has arrived before it.
  bool lost(const Owned& o) const {
    return o.has(Owned::kSent) && o.sent + ctx_.timing->reorder_window <= marked_;
  }

  SourceFlow& f_;
  Instant marked_;
  const RoleCtx& ctx_;
  int left_ = 512;
};

void repair_holes(SourceFlow& f, const CustodyAck& a, Instant marked, const RoleCtx& ctx) {
  const Seq first = std::max({a.received_end, f.confirmed_end, a.known_begin});
  // A hole with more packets than one report may look at goes on where the last one stopped.
  const Seq from = f.repair_cursor < a.known_end ? std::max(first, f.repair_cursor) : first;
  f.repair_cursor = 0;
  HoleScan scan(f, marked, ctx);
  Seq at = from;
  for (int r = 0; r <= a.ranges; ++r) {
    const Seq end = r < a.ranges ? std::min(a.range[r].begin, a.known_end) : a.known_end;
    if (end > at && !scan.look(at, end)) return;
    if (r < a.ranges) at = std::max(at, a.range[r].end);
  }
}

void release_below(SourceFlow& f, Seq end, const RoleCtx& ctx) {
  Uncounted gone(f, ctx);
  while (!f.window.empty()) {
    const Owned& o = f.window.front();
    if (o.end() > end) break;
    f.messages_confirmed = o.messages_end;
    ctx.latencies->custody_age.add(ctx.now - o.accepted);
    remember_confirmed(f, o, ctx);
    gone.add(o);
    f.window.pop_front();
  }
  MRDMA_CHECK(f.window.begin() <= f.admit_index());
}

Duration retransmit_timeout(const SourceFlow& f, const RoleCtx& ctx) {
  const Duration base = ctx.rtt * 3 + ctx.timing->reorder_window * 2 + Duration::millis(2);
  return base * (int64_t{1} << std::min(f.rto_backoff, 5u));
}

void send_mark(SourceFlow& f, const RoleCtx& ctx) {
  f.mark_seq = std::max(f.mark_seq + 1, static_cast<uint64_t>(ctx.now.ns));
  f.last_mark = ctx.now;
  // Not beyond epsn: what was discarded with a lost peer is the sender's, and nobody waits for it (seed 85034).
  const Seq highest_end = std::min(f.sent_end(), f.epsn);
  ctx.out->message(SentMark{f.id, f.mark_seq, highest_end, f.confirmed_end, f.ack_echo});
}

void note_receiver_credits(SourceFlow& f, const CustodyAck& a) {
  const int64_t msn = unwrap24(a.msn_real.v, f.msn_at_base + f.messages_confirmed);
  if (msn < f.msn_real) return;
  if (f.credits_used && (msn != f.msn_real || a.credits != f.credit_code)) f.ack_again = true;
  f.msn_real = msn;
  f.credit_code = a.credits;
}

Instant mark_deadline(const SourceFlow& f, const RoleCtx& ctx) {
  if (f.window.empty() || f.sent_end() == f.base) return Instant::never();
  // One mark reorder_window after the last packet proves its loss; then a slow repeat until all is confirmed. A
  // sender that never pauses that long gets its marks all the same, or no loss of it would ever be proven.
  const Duration window = ctx.timing->reorder_window;
  if (f.last_mark < f.last_send() + window) {
    const Instant pause = f.last_send() + ctx.crowded(window, ctx.rtt / 16);
    const Duration most = ctx.crowded({std::max((ctx.rtt / 8).ns, (window * 4).ns)}, ctx.rtt / 4);
    return earlier(later(pause, f.last_mark + window), later(f.last_mark, f.unmarked_since) + most);
  }
  const Duration slow{std::max((ctx.rtt / 4).ns, Duration::millis(1).ns)};
  return f.last_mark + ctx.crowded(slow, ctx.rtt + ctx.rtt / 2);
}

}  // namespace

void confirm(SourceFlow& f, Seq end, Msn msn, const RoleCtx& ctx) {
  if (end <= f.confirmed_end) return;
  const bool past_owned = end > f.epsn;
  f.confirmed_end = end;
  release_below(f, end, ctx);
  // A READ is confirmed whole: a far side that starts anew is given the first PSN of what it gets again (swarm
  // seed 3892725726).
  if (!f.window.empty()) f.confirmed_end = std::min(end, f.window.front().psn);
  if (past_owned) {
    f.epsn = end;
    f.raise_released(end);
    f.msn_at_base = unwrap24(msn.v, f.msn_at_base + f.messages) - f.messages;
    f.messages_confirmed = f.messages;
    // What waits behind a gap may stand below it now, and was promised to nobody: the sender sends it again.
    forget_gap(f);
  }
  f.rto_backoff = 0;
  f.rto_at = Instant::never();
}

void on_custody_ack(SourceFlow& f, const CustodyAck& a, Gate& gate, const RoleCtx& ctx) {
  if (a.confirmed_end > f.sent_end() || a.received_end > f.sent_end()) {
    ctx.n->reasons.add(Reason::kCustodyAckRange);
    return;
  }
  if (a.seq > f.ack_echo && a.form.known) f.set_ack_form(a.form);
  f.ack_echo = std::max(f.ack_echo, a.seq);
  if (a.confirmed_end < f.confirmed_end) {
    // Overtaken by a newer one; or we know more than the destination (an answered READ), and the mark that said
    // so was lost: it would repeat its report for ever (seed 71273).
    if (f.window.empty()) send_mark(f, ctx);
    return;
  }
  if (a.received_end > f.far_received_end) {
    f.far_received_end = a.received_end;
    f.rto_backoff = 0;
    f.rto_at = Instant::never();
  }
  confirm(f, a.confirmed_end, a.msn_real, ctx);
  if (a.msn_known) note_receiver_credits(f, a);
  // The destination repeats its report until a mark echoes it; with nothing left to send this is the only mark.
  if (f.window.empty()) send_mark(f, ctx);
  repair_holes(f, a, mark_time(f, a.mark_echo), ctx);
  gate.offer(f, ctx);
}

void confirm_answered(SourceFlow& f, const RoleCtx& ctx) {
  Seq end = f.confirmed_end;
  const Seq fence = read_fence(f);
  for (uint64_t i = f.reads.begin(); i < f.reads.end(); ++i) {
    if (f.reads[i].complete() && f.reads[i].end <= fence) end = std::max(end, f.reads[i].end);
  }
  if (end <= f.confirmed_end || end > std::min(f.sent_end(), f.epsn)) return;
  confirm(f, end, {}, ctx);
  send_mark(f, ctx);
}

void resend_from(SourceFlow& f, Seq psn, Gate& gate, const RoleCtx& ctx) {
  uint64_t i = std::max(f.find(psn), f.window.begin());
  for (; i < f.admit_index(); ++i) {
    Owned& o = f.window[i];
    // Answered READ-class requests are never repeated.
    if (o.has(Owned::kReadClass) && o.end() <= f.acked_end) continue;
    flag_resend(f, i);
  }
  gate.offer(f, ctx);
}

void run_repair_timers(SourceFlow& f, Gate& gate, const RoleCtx& ctx) {
  if (f.window.empty()) {
    f.rto_at = Instant::never();
    return;
  }
  if (mark_deadline(f, ctx) <= ctx.now) send_mark(f, ctx);
  if (f.sent_end() <= f.confirmed_end) return;
  if (f.rto_at.is_never()) {
    f.rto_at = later(f.last_send(), ctx.now) + retransmit_timeout(f, ctx);
    return;
  }
  if (f.rto_at > ctx.now) return;
  // Nothing was heard for a whole timeout: the oldest packet that the far side has not reported.
  const uint64_t i = f.find(std::max(f.confirmed_end, f.far_received_end));
  if (i < f.admit_index() && !(f.window[i].sent + retransmit_timeout(f, ctx) > ctx.now)) flag_resend(f, i);
  ++f.rto_backoff;
  f.rto_at = ctx.now + retransmit_timeout(f, ctx);
  gate.offer(f, ctx);
}

Instant repair_deadline(SourceFlow& f, const RoleCtx& ctx) {
  if (f.window.empty()) return Instant::never();
  if (f.sent_end() <= f.confirmed_end) return mark_deadline(f, ctx);
  if (f.rto_at.is_never()) f.rto_at = later(f.last_send(), ctx.now) + retransmit_timeout(f, ctx);
  return earlier(mark_deadline(f, ctx), f.rto_at);
}

void discard_unacknowledged(SourceFlow& f, Gate& gate, const RoleCtx& ctx) {
  gate.remove(f);
  forget_gap(f);
  f.passing.clear();
  {
    Uncounted gone(f, ctx);
    while (!f.window.empty() && f.window.back().psn >= f.acked_end && !f.window.back().has(Owned::kReadClass)) {
      const Owned& o = f.window.back();
      if (f.window.end() > f.admit_index()) uncount_gated(f, o.packet->size, ctx);
      gone.add(o);
      f.epsn = o.psn;
      f.window.pop_back();
    }
  }
  f.set_admit_index(std::min(f.admit_index(), f.window.end()));
  f.lower_released(f.epsn);
  f.ack_wanted_end = std::min(f.ack_wanted_end, f.epsn);
  f.messages = f.window.empty() ? f.messages_confirmed : f.window.back().messages_end;
  // Indices are given out again.
  f.fence_index = f.resend_scan = f.window.begin();
  gate.offer(f, ctx);
}

void discard_owned(SourceFlow& f, Gate& gate, const RoleCtx& ctx) {
  gate.remove(f);
  uncount_gated(f, f.gate_bytes, ctx);
  ctx.n->poisoned_discarded += f.window.size();
  for (Uncounted gone(f, ctx); !f.window.empty(); f.window.pop_front()) gone.add(f.window.front());
  f.passing.clear();
  f.confirmed.clear();
  forget_gap(f);
  f.set_admit_index(f.window.end());
  f.rto_at = Instant::never();
}

}  // namespace matchrdma
