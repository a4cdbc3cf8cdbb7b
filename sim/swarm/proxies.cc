#include <algorithm>

#include "dataplane/wire/icrc.h"
#include "dataplane/wire/pause_frame.h"
#include "sim/swarm/world.h"

namespace matchrdma::swarm {
namespace {

constexpr size_t kBurst = 32;

bool learned(const Proxy& p, Bytes frame) {
  const ParseResult r = parse_frame(frame);
  if (r.kind != ParseKind::kRoce || !r.frame.info().read_class) return false;
  return p.shard.flow(FlowKey::of(r.frame, 0)).has_value();
}

using Frames = std::vector<std::vector<uint8_t>>;

Frames to_be_forwarded(std::span<RxItem> burst) {
  Frames all;
  for (const RxItem& item : burst) {
    const Bytes b = item.packet->bytes();
    if (ether_type(b) != kEtherTypePause) all.emplace_back(b.begin(), b.end());
  }
  return all;
}

Frames forwarded(Outbox& out) {
  Frames all;
  for (const OutItem& item : out.items()) {
    if (!item.packet) continue;
    const Bytes b = item.packet->bytes();
    all.emplace_back(b.begin(), b.end());
  }
  return all;
}

}  // namespace

// The fault that the swarm must find: other bytes with a right ICRC.
void World::spoil(PacketRef& packet) {
  PacketRef q = arena_.copy(packet->bytes());
  const ParseResult r = parse_frame(q->bytes());
  if (r.kind == ParseKind::kRoce && !r.frame.payload().empty()) {
    q->data[r.frame.payload_offset()] ^= 1;
    write_icrc(parse_frame(q->bytes()).frame, {q->data, q->size});
  }
  packet = std::move(q);
}

void World::emit(Proxy& p) {
  const bool a = is_a(p);
  for (const JournalRecord& r : p.out.journal()) p.journal[r.slot] = r;
  for (OutItem& item : p.out.items()) {
    p.watch.leaves(item, now_);
    if (!item.packet) {
      if (lost_budget(*item.message)) continue;
      Long& l = in_data_queue(*item.message) ? (a ? ab_ : ba_) : (a ? ctl_ab_ : ctl_ba_);
      l.push(Carried{{}, std::move(*item.message), session_}, 64, now_);
      continue;
    }
    const uint32_t size = item.packet->size;
    if (item.side == Side::kLan) {
      record(a ? Tap::kLanA : Tap::kLanB, item.packet->bytes());
      (a ? a_down_ : b_down_).push(std::move(item.packet), size, now_);
      continue;
    }
    record(Tap::kWan, item.packet->bytes());
    if (o_.canary == Canary::kPayload && item.cause == Cause::kFirst && prng_.chance(0.02)) spoil(item.packet);
    if (o_.canary == Canary::kMemory && item.cause == Cause::kFirst && lives_.chance(0.02))
      never_given_back_.push_back(item.packet.share());
    (a ? ab_ : ba_).push(Carried{std::move(item.packet), {}, session_}, size, now_);
  }
  p.out.clear();
}

void World::run_burst(Proxy& p, std::span<RxItem> burst, std::span<const Message> messages) {
  for (const RxItem& item : burst) {
    if (item.side == Side::kLan) p.watch.enters_lan(item.packet->bytes(), learned(p, item.packet->bytes()));
  }
  const Frames in = o_.transparent ? to_be_forwarded(burst) : Frames{};
  p.shard.run_once(burst, messages, proxy_now(), p.out);
  if (o_.transparent && in != forwarded(p.out))
    complain("a transparent proxy changed what passes (invariant 6)");
  make_budgets(p);
  emit(p);
}

void World::run_proxy(Proxy& p) {
  size_t next = 0;
  do {
    const size_t n = std::min(p.rx.size() - next, kBurst);
    const size_t m = std::min(p.messages.size(), kBurst);
    run_burst(p, {p.rx.data() + next, n}, {p.messages.data(), m});
    p.messages.erase(p.messages.begin(), p.messages.begin() + static_cast<std::ptrdiff_t>(m));
    next += n;
  } while (next < p.rx.size() || !p.messages.empty());
  p.rx.clear();
  if (!p.hostile.empty()) run_hostile(p);
  check_memory(p);
}

// PROTOCOL 8: no state from a packet that fails its checks. All that was due at this time has been done, so
// what is there afterwards came of these packets alone.
void World::run_hostile(Proxy& p) {
  const Holdings before = Holdings::of(p.shard, proxy_now());
  for (size_t next = 0; next < p.hostile.size(); next += kBurst)
    run_burst(p, {p.hostile.data() + next, std::min(p.hostile.size() - next, kBurst)}, {});
  p.hostile.clear();
  const std::string bad = left_behind(before, Holdings::of(p.shard, proxy_now()));
  if (!bad.empty()) complain((is_a(p) ? "proxy A: " : "proxy B: ") + bad);
}

void World::check_memory(Proxy& p) {
  const std::string bad = over_limits(Holdings::of(p.shard, proxy_now()), o_.limits);
  if (!bad.empty()) complain((is_a(p) ? "proxy A: " : "proxy B: ") + bad);
  const uint64_t bound = live_bound();
  if (arena_.live_bytes() > bound) {
    complain("live bytes are " + std::to_string(arena_.live_bytes()) + ", and the counters explain " +
             std::to_string(bound));
  }
}

void World::make_budgets(Proxy& p) {
  p.budgets.run(p.shard, proxy_now(), p.out, o_.looks);
  if (slot_watch_ && &p == &pb_ && !p.shard.closed_slots().empty()) {
    slot_watch_(now_ - began_, p.shard.closed_slots(), p.budgets.maker());
  }
}

bool World::lost_budget(const Message& m) {
  if (!std::holds_alternative<Budget>(m)) return false;
  const Instant at = Instant{} + (now_ - began_);
  return (o_.no_budgets.from <= at && at < o_.no_budgets.until) ||
         (o_.budget_loss > 0 && prng_.chance(o_.budget_loss));
}

void World::change_egress() {
  if (egress_changes_at_ > now_) return;
  egress_changes_at_ = now_ + o_.wave / 2;
  egress_low_ = !egress_low_;
  if (o_.wave_behind) {
    b_down_.config().rate = egress_low_ ? o_.low_egress : o_.tuning.egress;
    return;
  }
  Tuning t = o_.tuning;
  if (egress_low_) t.egress = o_.low_egress;
  pb_.shard.set_tuning(o_.timing, t, proxy_now(), pb_.out);
  emit(pb_);
}

// At the doors of the proxies, so that no wire spoils it further.
void World::attack_due() {
  if (next_attack_ > now_) return;
  --attacks_left_;
  next_attack_ =
      attacks_left_ > 0 ? now_ + Duration{lives_.between(1, 2 * o_.hostile.every.ns)} : Instant::never();
  const bool lan = o_.hostile.lan && (!o_.hostile.wan || lives_.chance(0.5));
  Proxy& at = lives_.chance(0.5) ? pa_ : pb_;
  PacketRef p;
  if (lives_.chance(0.2) && !pairs_.empty()) {
    // Where a flow is active, even a sound ACK is measured against what was sent.
    const Pair& w = pairs_[lives_.below(pairs_.size())];
    const auto v = at.shard.flow(registration(w.now).flow(lan != is_a(at)));
    if (v && std::string_view(v->state) == "active")
      p = ack_out_of_range(v->key, v->sender_qpn, v->epsn, lives_, arena_);
  }
  if (!p) p = stranger_.packet();
  if (!p || !at.alive()) return;
  ++met_[lan ? Event::kHostileLan : Event::kHostileWan];
  at.hostile.push_back({lan ? Side::kLan : Side::kWan, std::move(p)});
}

}  // namespace matchrdma::swarm
