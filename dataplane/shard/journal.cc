// H13: the journal of promises that the receivers have not confirmed, and what a new life makes of it.
#include "dataplane/shard/impl.h"
#include "dataplane/source/acknowledge.h"

namespace matchrdma {
namespace {

bool promised(const SourceFlow& f) {
  const bool keeps =
      f.state == FlowState::kActive || f.state == FlowState::kReopening || f.state == FlowState::kDoubted;
  return keeps && f.acked_end > f.confirmed_end;
}

}  // namespace

void Shard::Impl::write_journal(SourceFlow& f, const RoleCtx& ctx) {
  const Seq end = promised(f) ? f.acked_end : -1;
  if (end == f.journaled_end) return;
  f.journaled_end = end;
  JournalRecord r{f.index, end >= 0, f.key, f.sender_qpn, f.path_mtu, {}, {}, {}};
  if (r.promised) {
    r.acked_end = wire_psn(f.acked_end);
    r.confirmed_end = wire_psn(f.confirmed_end);
    r.msn = wire_msn(messages_below(f, f.acked_end));
  }
  ctx.out->journal(r);
}

bool Shard::Impl::poison_journaled(const JournalRecord& r, const RoleCtx& ctx) {
  if (!r.promised) return true;
  Registration pair = Registration::of(r.key, r.sender_qpn);
  pair.path_mtu = r.path_mtu;
  if (learn(pair, true, LearnedBy::kJournal, ctx) != Registered::kYes) return false;
  SourceFlow& f = *records[table.find(r.key)].source;
  f.id = new_id(f.index);             // for the CLOSE at the end of the fault
  f.completion = Completion::kEarly;  // only promises that outran the receiver are in the journal
  f.acked_end = kFirstEpoch + r.acked_end.v;
  f.set_seen_end(f.acked_end);
  f.seen = true;
  f.msn_at_base = r.msn.v;
  poison_qp(f.index, kNakRemoteOperation, ctx);
  return true;
}

bool Shard::poison_journaled(const JournalRecord& r, Instant now, Outbox& out) {
  const RoleCtx ctx = impl_->context(now, out);
  const bool room = impl_->poison_journaled(r, ctx);
  impl_->settle_dirty(ctx);
  return room;
}

}  // namespace matchrdma
