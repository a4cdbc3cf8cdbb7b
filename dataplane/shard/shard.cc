#include "dataplane/shard/shard.h"
#include "dataplane/base/prefetch.h"

#include <algorithm>
#include <utility>

#include "dataplane/destination/plain.h"
#include "dataplane/destination/repair.h"
#include "dataplane/destination/report.h"
#include "dataplane/destination/session.h"
#include "dataplane/shard/impl.h"
#include "dataplane/source/accept.h"
#include "dataplane/source/acknowledge.h"
#include "dataplane/source/activate.h"
#include "dataplane/source/custody.h"
#include "dataplane/source/plain.h"
#include "dataplane/source/reopen.h"

namespace matchrdma {
namespace {

// A flow that has read holds entries as long as it remembers the answers, and refuses the next READ without
// one: there is a chunk for every flow.
uint64_t read_entries(const Limits& l) {
  return l.custody_packets / 16 + uint64_t{ChunkPool<ReadRange>::kChunk} * l.max_owning_flows;
}

// What is rare, one in sixteen of the packets; and one for each flow, which may need it to go on at all.
uint64_t rare_entries(uint32_t packets, const Limits& l) { return packets / 16 + uint64_t{l.max_owning_flows}; }

uint64_t soft_share(const Limits& l) {
  const auto all = static_cast<unsigned __int128>(l.custody_packets);
  return static_cast<uint64_t>(
      std::min(all, all * l.custody_soft_bytes / std::max<uint64_t>(l.custody_hard_bytes, 1)));
}

// Copies behind a barrier that nobody lifts, an active flow that owes nothing and is owed nothing, and a failed
// QP whose sender has stopped: its numbers may name another one soon.
Instant expiry(const SourceFlow& f, const RoleCtx& ctx) {
  if (f.state == FlowState::kReopening) return f.reopen_until;
  const bool idle = f.state == FlowState::kActive && !f.owns();
  const bool stuck = f.state == FlowState::kBarrier && f.owns();
  return idle || stuck || f.state == FlowState::kPoisoned
             ? later(later(f.last_send(), f.last_request()), f.idle_since) + ctx.timing->idle_expiry
             : Instant::never();
}

}  // namespace

Shard::Impl::Impl(const ShardConfig& c, PacketPool& p)
    : config(c),
      pool(p),
      table(c.limits.max_flows),
      ids(c.limits.max_flows),
      source_pools{{c.limits.custody_packets, c.limits.max_owning_flows},
                   {c.limits.confirmed_entries, c.limits.max_owning_flows},
                   {read_entries(c.limits), c.limits.max_owning_flows},
                   {rare_entries(c.limits.custody_packets, c.limits), c.limits.max_owning_flows},
                   {}},
      destination_pools{{c.limits.held_packets, c.limits.max_owning_flows},
                        {rare_entries(c.limits.held_packets, c.limits), c.limits.max_owning_flows},
                        {}},
      gate(c.limits.max_groups),
      egress(c.limits.max_groups, c.tuning.slot),
      timers(c.limits.max_flows),
      pause(c.pause),
      correlation(c.limits.correlation),
      rtt(c.timing.initial_rtt),
      soft_packets(soft_share(c.limits)) {
  records.reserve(c.limits.max_flows);
}

RoleCtx Shard::Impl::context(Instant now, Outbox& out) {
  RoleCtx ctx;
  ctx.now = now;
  ctx.out = &out;
  ctx.pool = &pool;
  ctx.n = &n;
  ctx.latencies = &latencies;
  ctx.limits = &config.limits;
  ctx.timing = &config.timing;
  ctx.tuning = &config.tuning;
  ctx.policy = config.policy != nullptr ? config.policy : &fixed_policy;
  ctx.rtt = rtt;
  ctx.soft_packets = soft_packets;
  ctx.busy_flows = std::max(busy_before, busy_now);
  ctx.touched = &touched;
  ctx.peer_up = last_heard.is_never() || last_heard + config.timing.peer_timeout > now;
  return ctx;
}

// Something happens to the flow: what it owes is looked at when the run ends, and no packet is plain before.
void Shard::Impl::touch(FlowIndex i) {
  if (records[i].source) records[i].source->plain_left = 0;
  if (records[i].destination) records[i].destination->plain = false;
  owe(i);
}

// The flow owes an ACK, or a timer.
void Shard::Impl::owe(FlowIndex i) {
  if (records[i].dirty) return;
  records[i].dirty = true;
  dirty.push_back(i);
}

void Shard::Impl::run_once(std::span<RxItem> burst, std::span<const Message> messages, Instant now,
                           Outbox& out) {
  MRDMA_CHECK(now >= last_run);
  last_run = now;
  if (!messages.empty()) {
    last_heard = now;
    peer_lost = false;
  }
  if (busy_until <= now) {
    busy_before = std::exchange(busy_now, 0);
    ++busy_period;
    busy_until = now + Duration{std::max(rtt.ns, Duration::millis(1).ns)};
  }
  const RoleCtx ctx = context(now, out);
  egress.slots().run(now, rtt);  // before anything of the next slot
  take_due(ctx);
  on_inputs(messages, burst, ctx);
  run_flow_timers(ctx);
  gate.run(ctx);
  egress.run(ctx);
  settle_dirty(ctx);
  run_peer_timer(ctx);
  pause.run(ctx);
  if (!wanted.empty()) run_wanted(ctx);
  if (!held_dreqs.empty()) release_dreqs(ctx);
}

// A flow is armed anew only at the end of the run: each comes here at most once.
void Shard::Impl::take_due(const RoleCtx& ctx) {
  for (due_count = 0; due_count < due_flows.size() && timers.earliest() <= ctx.now; ++due_count) {
    due_flows[due_count] = timers.earliest_owner();
    timers.set(due_flows[due_count], Instant::never());
    prefetch_line(&records[due_flows[due_count]]);
  }
}

void Shard::Impl::run_flow_timers(const RoleCtx& ctx) {
  for (; due_count != 0; take_due(ctx)) {
    for (size_t i = 0; i < due_count; ++i) {
      if (ctx.out->has_room()) {
        run_timers(due_flows[i], ctx);
      } else {
        timers.set(due_flows[i], ctx.now);  // the next run goes on here
      }
    }
    if (!ctx.out->has_room()) return;
  }
}

void Shard::Impl::run_timers(FlowIndex i, const RoleCtx& ctx) {
  FlowRecord& r = records[i];
  bool plain = false;
  if (r.source) {
    plain = run_source_timers(i, ctx);
  } else if (r.destination) {
    run_repair_timers(*r.destination, egress, ctx);
    run_report_timer(*r.destination, ctx);
    run_session_timer(*r.destination, ctx);
    plain = stays_plain(*r.destination);
  }
  plain ? owe(i) : touch(i);
}

// True: it was plain and stays so.
bool Shard::Impl::run_source_timers(FlowIndex i, const RoleCtx& ctx) {
  SourceFlow& f = *records[i].source;
  if (f.plain_left > 0 && earlier(f.retry_at, expiry(f, ctx)) > ctx.now) {
    run_repair_timers(f, gate, ctx);
    return stays_plain(f);
  }
  if (f.state == FlowState::kActive) {
    run_accept_timers(f, ctx);
    run_repair_timers(f, gate, ctx);
  }
  if (expiry(f, ctx) <= ctx.now) expire(i, ctx);
  if (f.state == FlowState::kDoubted) conclude(i, judge(f, ctx.now), ctx);
  run_handshake_timer(f, ctx);
  return false;
}

void Shard::Impl::expire(FlowIndex i, const RoleCtx& ctx) {
  SourceFlow& f = *records[i].source;
  if (f.state == FlowState::kReopening) {
    poison_qp(i, kNakRemoteOperation, ctx);
    return;
  }
  if (f.state != FlowState::kPoisoned) {
    forget_base(f, gate, ctx);
    return;
  }
  // Failed from the journal, and nothing ever came that could have been answered.
  if (!f.fault_told && records[i].by == LearnedBy::kJournal) ++n.idle_fault_events;
  if (records[i].by == LearnedBy::kRegistration) {
    end_for_good(f, gate, ctx);
  } else {
    retire(f, ctx);
  }
}

void Shard::Impl::settle_dirty(const RoleCtx& ctx) {
  for (const FlowIndex i : touched) touch(i);
  touched.clear();
  for (size_t k = 0; k < std::min(kSettleAhead, dirty.size()); ++k) prefetch_settled(dirty[k]);
  for (size_t k = 0; k < dirty.size(); ++k) {
    const FlowIndex i = dirty[k];
    if (k + kSettleAhead < dirty.size()) prefetch_settled(dirty[k + kSettleAhead]);
    FlowRecord& r = records[i];
    r.dirty = false;
    if (std::exchange(r.busy_in, busy_period) != busy_period) ++busy_now;
    if (r.source) {
      settle_acks(*r.source, ctx);
      finish_drain(*r.source, gate, ctx);
      finish_reopening(*r.source, gate, ctx);
      write_journal(*r.source, ctx);
      const bool failed = r.source->state == FlowState::kPoisoned;
      if (failed && !r.failed && r.reverse != kNoFlow) touch(r.reverse);
      r.failed = failed;
    } else if (r.destination) {
      run_report_timer(*r.destination, ctx);
      const FlowRecord* back = record(r.reverse);
      if (r.destination->state == DestState::kPoisoned || (back != nullptr && back->failed))
        share_failure(*r.destination, r.reverse, ctx);
    }
    arm(i, ctx);
    if (r.source && r.source->plain_left == 0) r.source->plain_left = plain_packets(*r.source, ctx);
    if (r.destination && !r.destination->plain) r.destination->plain = goes_plain(*r.destination, ctx);
  }
  dirty.clear();
}

void Shard::Impl::prefetch_settled(FlowIndex i) const {
  timers.prefetch(i);
  prefetch_role(i, true);
  if (records[i].reverse != kNoFlow) prefetch_line(&records[records[i].reverse]);
}

// A QP fails both ways: `f` goes to a receiver here, its reverse flow leaves here.
void Shard::Impl::share_failure(DestinationFlow& f, FlowIndex reverse, const RoleCtx& ctx) {
  FlowRecord* r = record(reverse);
  if (r == nullptr || !r->source) return;
  SourceFlow& back = *r->source;
  if (back.state == FlowState::kPoisoned) {
    // Failed here alone (from the journal, by custody's age): the far proxy must not go on promising.
    if (f.state != DestState::kOpened && !f.tracking()) return;
    fault(f, back.fault_syndrome, egress, ctx);
    touch(f.index);
  } else if (f.state == DestState::kPoisoned && !f.gave_up) {
    // A receiver that failed its QP sends nothing more either (H12).
    poison(back, f.fault_syndrome, gate, ctx);
    touch(reverse);
  }
}

void Shard::Impl::arm(FlowIndex i, const RoleCtx& ctx) {
  FlowRecord& r = records[i];
  Instant at = Instant::never();
  if (r.source) {
    at = r.source->retry_at;
    at = earlier(at, expiry(*r.source, ctx));
    if (r.source->plain_left > 0) {
      timers.set(i, earlier(at, repair_deadline(*r.source, ctx)));
      return;
    }
    if (r.source->state == FlowState::kDoubted) at = earlier(at, r.source->doubt_ends);
    if (r.source->state == FlowState::kActive) {
      at = earlier(at, earlier(accept_deadline(*r.source, ctx), repair_deadline(*r.source, ctx)));
    }
  } else if (r.destination) {
    at = earlier(earlier(repair_deadline(*r.destination, ctx), report_deadline(*r.destination, ctx)),
                 session_deadline(*r.destination, ctx));
  }
  timers.set(i, at);
}

Instant Shard::Impl::next_wakeup() const {
  return earlier(earlier(timers.earliest(), peer_deadline()),
                 earlier(earlier(gate.next_deadline(), egress.next_deadline()), pause.next_deadline()));
}

Shard::Shard(const ShardConfig& config, PacketPool& pool) : impl_(std::make_unique<Impl>(config, pool)) {}
Shard::~Shard() = default;

uint64_t Shard::table_bytes(const Limits& l) {
  // The table's key, its slots, the index of ids, the timers and the free list.
  constexpr uint64_t kKeys = 64 + 4 * 8 + 4 * 16 + 2 * 16 + sizeof(FlowIndex);
  // Of the two flows of a pair one has its source here.
  constexpr uint64_t kFlow = sizeof(FlowRecord) + (sizeof(SourceFlow) + sizeof(DestinationFlow)) / 2 + kKeys;
  const uint32_t rings = l.max_owning_flows;
  return l.max_flows * kFlow + ChunkPool<Owned>::bytes(l.custody_packets, rings) +
         ChunkPool<Passing>::bytes(rare_entries(l.custody_packets, l), rings) +
         ChunkPool<Held>::bytes(l.held_packets, rings) +
         ChunkPool<Answering>::bytes(rare_entries(l.held_packets, l), rings) +
         ChunkPool<Confirmed>::bytes(l.confirmed_entries, rings);
}

void Shard::run_once(std::span<RxItem> burst, std::span<const Message> messages, Instant now, Outbox& out) {
  impl_->run_once(burst, messages, now, out);
}
Instant Shard::next_wakeup() const { return impl_->next_wakeup(); }
Duration Shard::rtt() const { return impl_->rtt; }
bool Shard::rtt_measured() const { return impl_->rtt_count > 0; }
const Counters& Shard::counters() const { return impl_->n; }
const Latencies& Shard::latencies() const { return impl_->latencies; }

bool Shard::busy() const {
  for (const FlowRecord& r : impl_->records) {
    if (r.source) {
      const SourceFlow& f = *r.source;
      // Copies kept before the barrier is lifted are nobody's promise.
      const bool promised = f.state != FlowState::kBasing && f.state != FlowState::kBarrier;
      if ((promised && f.owns()) || !f.passing.empty() || !f.gap.empty()) return true;
      if (f.state == FlowState::kClosing || (f.state == FlowState::kActive && !f.lifted_answered)) return true;
    } else if (r.destination) {
      const DestinationFlow& f = *r.destination;
      const bool promised = f.state != DestState::kTracking;
      if ((promised && !f.ring.empty()) || !f.beyond.empty() || f.state == DestState::kClosing) return true;
      if (f.state == DestState::kActive && (f.report_dirty || f.report_news > f.report_echoed)) return true;
    }
  }
  return false;
}

uint64_t Shard::owned_packets() const {
  uint64_t sum = 0;
  for (const FlowRecord& r : impl_->records) sum += r.source ? r.source->window.size() : 0;
  return sum;
}

std::vector<GroupView> Shard::groups(Instant now) const {
  std::vector<GroupView> out;
  for (const auto& g : impl_->gate.groups()) {
    out.push_back({g->key, g->rate_at(now), g->told, g->told && g->valid_until <= now, g->backlog_bytes,
                   g->admitted_bytes});
  }
  return out;
}

std::span<const GroupSlot> Shard::closed_slots() const { return impl_->egress.slots().closed(); }
std::span<const GroupSlot> Shard::looked_slots() const { return impl_->egress.slots().looked(); }

bool Shard::say_budget(const ToldBudget& told, Outbox& out) {
  if (!out.has_room()) return false;
  if (EgressGroup* g = impl_->egress.find(told.budget.group); g != nullptr && told.least_delay.ns > 0) {
    g->meter.set_least_delay(told.least_delay);
  }
  out.message(told.budget);
  return true;
}

std::vector<Correlation::Report> Shard::unpaired() const { return impl_->correlation.report(); }

namespace {

constexpr std::array kDestinationStates{"idle", "opened", "tracking", "active", "closing", "poisoned"};
static_assert(kDestinationStates.size() == static_cast<size_t>(DestState::kPoisoned) + 1);

}  // namespace

std::vector<std::string> flow_state_names() {
  std::vector<std::string> names;
  for (size_t i = 0; i < static_cast<size_t>(FlowState::kCount); ++i)
    names.emplace_back(state_name(static_cast<FlowState>(i)));
  for (const char* name : kDestinationStates) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
  }
  return names;
}

std::optional<FlowView> Shard::Impl::view(const FlowRecord& r) {
  FlowView v;
  v.learned_by = r.by;
  if (r.source) {
    const SourceFlow& f = *r.source;
    v.key = f.key;
    v.sender_qpn = f.sender_qpn;
    v.source = true;
    v.state = state_name(f.state);
    v.activated = f.activated;
    v.untold = f.state == FlowState::kPoisoned && !f.fault_told;
    v.base = f.base;
    v.epsn = f.epsn;
    v.confirmed_end = f.confirmed_end;
    v.owned_packets = f.window.size();
    v.behind_gap = f.gap.size();
    if (f.owns()) v.oldest_owned = f.window[f.window.begin()].accepted;
    return v;
  }
  if (!r.destination) return std::nullopt;
  const DestinationFlow& f = *r.destination;
  v.key = f.key;
  v.sender_qpn = f.sender_qpn;
  v.state = kDestinationStates[static_cast<size_t>(f.state)];
  v.base = f.base;
  v.epsn = f.expected;
  v.confirmed_end = f.acked_end;
  return v;
}

std::optional<FlowView> Shard::flow(const FlowKey& key) const {
  const FlowRecord* r = impl_->record(impl_->table.find(key));
  return r == nullptr ? std::nullopt : Impl::view(*r);
}

size_t Shard::flows(size_t from, size_t records, std::vector<FlowView>& out) const {
  const size_t end = std::min(from + records, impl_->records.size());
  for (size_t i = from; i < end; ++i) {
    if (const auto v = Impl::view(impl_->records[i])) out.push_back(*v);
  }
  return end < impl_->records.size() ? end : 0;
}

std::vector<FlowView> Shard::flows() const {
  std::vector<FlowView> out;
  flows(0, impl_->records.size(), out);
  return out;
}

}  // namespace matchrdma
