// What the peer says, to the flow it means. A message of another flow id or generation changes nothing.
#include <algorithm>
#include <type_traits>

#include "dataplane/base/prefetch.h"
#include "dataplane/destination/repair.h"
#include "dataplane/destination/report.h"
#include "dataplane/destination/session.h"
#include "dataplane/destination/settle.h"
#include "dataplane/shard/impl.h"
#include "dataplane/source/acknowledge.h"
#include "dataplane/source/activate.h"
#include "dataplane/source/custody.h"
#include "dataplane/source/plain.h"
#include "dataplane/source/reopen.h"

namespace matchrdma {
namespace {

void to_source(SourceFlow& f, const FlowOpened& m, Gate&, const RoleCtx& ctx) {
  if (f.state == FlowState::kReopening) {
    on_opened_again(f, m, ctx);
  } else {
    on_opened(f, m, ctx);
  }
}
void to_source(SourceFlow& f, const FlowBaseAck& m, Gate& gate, const RoleCtx& ctx) {
  if (f.state == FlowState::kReopening) {
    on_base_answered_again(f, m, gate, ctx);
  } else {
    on_base_answered(f, m, ctx);
  }
}
void to_source(SourceFlow& f, const FlowLiftedAck&, Gate&, const RoleCtx&) {
  if (f.state != FlowState::kActive) return;
  f.lifted_answered = true;
  f.retry_at = Instant::never();
}
void to_source(SourceFlow& f, const FlowContradicted&, Gate& gate, const RoleCtx& ctx) {
  contradict(f, gate, ctx);
}
void to_source(SourceFlow& f, const FlowClosed&, Gate&, const RoleCtx& ctx) { on_closed(f, ctx); }
// True: a plain flow that stays one, though less is in its window.
bool to_source(SourceFlow& f, const CustodyAck& m, Gate& gate, const RoleCtx& ctx) {
  if (f.plain_left > 0) {
    on_custody_ack(f, m, gate, ctx);
    return stays_plain(f);
  }
  if (f.state == FlowState::kActive) on_custody_ack(f, m, gate, ctx);
  // Failed here alone: the far side would report for ever to a flow that answers nothing (seed 335568).
  if (f.state == FlowState::kPoisoned && f.retry_at.is_never()) say_handshake(f, ctx);
  return false;
}

void to_destination(DestinationFlow& f, const FlowBase& m, Egress&, const RoleCtx& ctx) { on_base(f, m, ctx); }
void to_destination(DestinationFlow& f, const FlowLifted& m, Egress& e, const RoleCtx& ctx) {
  on_lifted(f, m, e, ctx);
}
void to_destination(DestinationFlow& f, const CloseMarker& m, Egress&, const RoleCtx& ctx) {
  on_close_marker(f, m, ctx);
}
void to_destination(DestinationFlow& f, const SentMark& m, Egress& e, const RoleCtx& ctx) {
  on_mark(f, m, e, ctx);
}
void to_destination(DestinationFlow& f, const FlowFaultAck&, Egress&, const RoleCtx&) {
  f.fault_retry_at = Instant::never();
}

template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace

template <typename M>
void Shard::Impl::to_source(const M& m, const RoleCtx& ctx) {
  const FlowIndex i = by_id(m.id);
  FlowRecord* r = record(i);
  if (r == nullptr || !r->source || r->source->id != m.id) {
    n.reasons.add(Reason::kStaleMessage);
    return;
  }
  if constexpr (std::is_same_v<M, CustodyAck>) {
    if (matchrdma::to_source(*r->source, m, gate, ctx)) {
      owe(i);
      return;
    }
  } else {
    matchrdma::to_source(*r->source, m, gate, ctx);
  }
  touch(i);
}

template <typename M>
void Shard::Impl::to_destination(const M& m, const RoleCtx& ctx) {
  const FlowIndex i = by_id(m.id);
  FlowRecord* r = record(i);
  if (r == nullptr || !r->destination || r->destination->id != m.id) {
    n.reasons.add(Reason::kStaleMessage);
    return;
  }
  matchrdma::to_destination(*r->destination, m, egress, ctx);
  touch(i);
}

void Shard::Impl::poison_qp(FlowIndex i, uint8_t syndrome, const RoleCtx& ctx) {
  poison(*records[i].source, syndrome, gate, ctx);
  touch(i);
  FlowRecord* r = record(records[i].reverse);
  if (r == nullptr || !r->destination) return;
  if (r->destination->tracking()) {
    discard_held(*r->destination, egress, ctx);
    r->destination->state = DestState::kPoisoned;
  }
}

// How the doubt about a silent receiver ends (C9, C10). A failed QP has failed both ways, and the far proxy
// gave up without telling its own host.
void Shard::Impl::conclude(FlowIndex i, Verdict v, const RoleCtx& ctx) {
  SourceFlow& f = *records[i].source;
  if (v == Verdict::kElsewhere) {
    ++n.rehash_events;
    leave_alone(f, gate, ctx);
  } else if (v == Verdict::kFailed) {
    poison_qp(i, f.fault_syndrome, ctx);
    FlowRecord* back = record(records[i].reverse);
    if (back != nullptr && back->destination && back->destination->state == DestState::kPoisoned) {
      matchrdma::fault(*back->destination, f.fault_syndrome, egress, ctx);
      touch(records[i].reverse);
    }
  }
  touch(i);
}

void Shard::Impl::on_message(const Message& message, const RoleCtx& ctx) {
  const auto close = [&](const FlowClose& m) {
    const FlowIndex i = by_id(m.id);
    FlowRecord* r = record(i);
    if (r == nullptr || !r->destination) {
      ctx.out->message(FlowClosed{m.id});
      return;
    }
    const bool first = r->destination->state != DestState::kClosing && r->destination->id == m.id;
    on_close(*r->destination, m, egress, ctx);
    touch(i);
    FlowRecord* back = record(r->reverse);
    if (m.whole_qp && first && back != nullptr && back->source && back->source->tracked()) {
      new_generation(*back->source, false, gate, ctx);
      touch(r->reverse);
    }
  };
  const auto fault = [&](const FlowFault& m) {
    ctx.out->message(FlowFaultAck{m.id});
    const FlowIndex i = by_id(m.id);
    FlowRecord* r = record(i);
    if (r == nullptr || !r->source || r->source->id != m.id) return;
    if (SourceFlow& f = *r->source;
        f.state == FlowState::kActive && m.confirmed_end <= std::min(f.sent_end(), f.epsn)) {
      // What the receiver has is acknowledged first: only the rest fails.
      confirm(f, m.confirmed_end, m.msn_real, ctx);
      settle_acks(f, ctx);
    }
    if (!m.gave_up) {
      poison_qp(i, m.syndrome, ctx);
    } else if (r->source->state == FlowState::kActive) {
      doubt(*r->source, m.syndrome, gate, ctx);
      touch(i);
    }
  };
  const auto probe_ack = [&](const ProbeAck& m) {
    const Duration sample = (ctx.now - m.t1) - (m.t3 - m.t2);
    if (sample < Duration{}) return;
    rtt_window[rtt_count++ % rtt_window.size()] = sample;
    rtt = *std::min_element(rtt_window.begin(),
                            rtt_window.begin() + std::min<size_t>(rtt_count, rtt_window.size()));
  };
  std::visit(Overloaded{
                 [&](const FlowOpen& m) { on_flow_open(m, ctx); },
                 close,
                 fault,
                 probe_ack,
                 [&](const Probe& m) {
                   ctx.out->message(ProbeAck{m.t1, ctx.now, ctx.now});
                 },
                 [&](const Budget& m) { gate.on_budget(m, ctx); },
                 [&](const RegisterQp& m) { on_register(m, ctx); },
                 [&](const UnregisterQp& m) { on_unregister(m, ctx); },
                 [&](const RegisterQpAck& m) { answered(m.reg, false, ctx); },
                 [&](const UnregisterQpAck& m) { answered(m.reg, true, ctx); },
                 [&](const Drain& m) { on_drain(m, ctx); },
                 [&](const DrainAck& m) {
                   if (m.on == drain_here) drain_told = true;
                 },
                 [&](const FlowOpened& m) { to_source(m, ctx); },
                 [&](const FlowBaseAck& m) { to_source(m, ctx); },
                 [&](const FlowLiftedAck& m) { to_source(m, ctx); },
                 [&](const FlowContradicted& m) { to_source(m, ctx); },
                 [&](const FlowClosed& m) { to_source(m, ctx); },
                 [&](const CustodyAck& m) { to_source(m, ctx); },
                 [&](const auto& m) { to_destination(m, ctx); },
             },
             message);
}

}  // namespace matchrdma
