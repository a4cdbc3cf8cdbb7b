#include <algorithm>
#include <numeric>
#include <set>

#include "sim/swarm/world.h"

namespace matchrdma::swarm {
namespace {

template <typename Items>
uint64_t bytes_of(const Items& items) {
  return std::accumulate(items.begin(), items.end(), uint64_t{0},
                         [](uint64_t n, const RxItem& i) { return n + (i.packet ? i.packet->size : 0); });
}

uint64_t lost_to(const model::SpanStats& s) { return s.lost + s.tail_drops; }

}  // namespace

void World::complain(const std::string& what) {
  if (complaint_.empty()) complaint_ = "at " + std::to_string(now_.ns) + " ns: " + what;
}

// What wires carry, what waits at the doors, and what the proxies count as theirs.
uint64_t World::live_bound() const {
  uint64_t n = 0;
  for (const Wire* w : {&a_up_, &a_down_, &b_up_, &b_down_}) n += w->in_flight_bytes();
  for (const Long* l : {&ab_, &ba_, &ctl_ab_, &ctl_ba_}) n += l->in_flight_bytes();
  for (const Proxy* p : {&pa_, &pb_}) {
    const Counters& c = p->shard.counters();
    n += bytes_of(p->rx) + bytes_of(p->hostile) + c.custody_bytes + c.held_bytes;
    n += uncounted_bytes(p->shard.flows(), p->shard.busy());
  }
  return n;
}

bool World::finished() const {
  for (const Pair& w : pairs_) {
    if (w.left_a + w.left_b > 0 || w.life != Life::kSettled || !w.reset_at.is_never()) return false;
  }
  for (const Hosts* side : {&a_, &b_}) {
    for (const auto& host : *side) {
      if (!host->idle()) return false;
    }
  }
  // Probes go on for ever; everything else has to come to rest.
  return pa_.alive() && pb_.alive() && a_up_.empty() && a_down_.empty() && b_up_.empty() && b_down_.empty() &&
         !pa_.shard.busy() && !pb_.shard.busy();
}

// What every flow was doing, for the reader of a failure.
std::string World::states() const {
  std::string out;
  for (const Proxy* p : {&pa_, &pb_}) {
    for (const FlowView& v : p->shard.flows()) {
      out += std::string("\n    ") + (p == &pa_ ? "A " : "B ") + (v.source ? "source " : "destination ") +
             v.state + " base " + std::to_string(v.base) + " next +" + std::to_string(v.epsn - v.base) +
             " confirmed +" + std::to_string(v.confirmed_end - v.base) + " owned " +
             std::to_string(v.owned_packets);
    }
    out += std::string("\n    ") + (p->shard.busy() ? "busy" : "idle");
  }
  for (size_t i = 0; i < pairs_.size(); ++i) {
    const Pair& w = pairs_[i];
    if (w.qps.a == nullptr) continue;
    out += "\n    pair " + std::to_string(i) + (w.qps.a->requester.idle() ? " a idle" : " a busy") +
           (w.qps.b->requester.idle() ? " b idle" : " b busy");
  }
  return out;
}

std::string World::audit_pairs(bool done, bool& healthy) const {
  for (size_t i = 0; i < pairs_.size(); ++i) {
    const Pair& w = pairs_[i];
    const model::QpPair& q = w.qps;
    if (q.a == nullptr) continue;
    const std::string name = "pair " + std::to_string(i) + ": ";
    if (w.now.fatal != 0 || w.may_fail) healthy = false;
    if (w.now.fatal != 0) continue;
    const bool failed = q.a->failed() || q.b->failed();
    if (failed && !w.may_fail) return name + "a healthy QP was killed (invariant 7)";
    model::AuditOptions audit;
    audit.complete = done && !w.may_fail;
    audit.completion_after_execution = w.now.completion == Completion::kEndToEnd;
    const std::string bad = model::audit(q, audit, now_);
    if (!bad.empty()) return name + bad;
    if (o_.clean && q.a->responder.stats().sequence_naks + q.b->responder.stats().sequence_naks != 0)
      return name + "a receiver missed a packet though nothing went wrong";
  }
  return {};
}

std::string World::verdict(bool done) const {
  for (const Proxy* p : {&pa_, &pb_}) {
    if (!p->watch.complaint().empty()) return p->watch.complaint();
  }
  if (!complaint_.empty()) return complaint_ + states();
  bool healthy = true;
  if (const std::string bad = audit_pairs(done, healthy); !bad.empty()) return bad;
  if (!done)
    return "no end after " + std::to_string((now_ - began_).ns / 1'000'000'000) +
           " s of virtual time (something waits for ever)" + states();
  for (const Proxy* p : {&pa_, &pb_}) {
    const Counters& n = p->shard.counters();
    // Copies behind a barrier that nobody lifted any more expire by their own timer.
    const std::vector<FlowView> flows = p->shard.flows();
    const bool barrier = std::any_of(flows.begin(), flows.end(), [](const FlowView& v) {
      return std::string_view(v.state) == "barrier" || std::string_view(v.state) == "basing" ||
             std::string_view(v.state) == "tracking";
    });
    const bool owned = n.custody_bytes != 0 || n.held_bytes != 0;
    if ((owned && !barrier) || n.gate_bytes != 0) return "bytes are still owned at the end" + states();
    if (n.faults != 0 && healthy) return "fault on a healthy QP (invariant 7)" + states();
  }
  if (arena_.live_bytes() > live_bound()) return "packets that nobody holds were not given back at the end";
  return {};
}

Tally World::tally() const {
  Tally t = met_;
  const auto add = [&t](Event e, uint64_t n) { t[e] += n; };
  for (const Long* l : {&ab_, &ba_}) {
    add(Event::kSpanLoss, lost_to(l->stats()));
    add(Event::kSpanDuplicate, l->stats().duplicated);
    add(Event::kSpanReorder, l->stats().reordered);
    add(Event::kSpanCorrupt, l->stats().corrupted);
    add(Event::kSpanCut, l->stats().cut);
  }
  for (const Long* l : {&ctl_ab_, &ctl_ba_}) {
    add(Event::kControlLoss, lost_to(l->stats()));
    add(Event::kControlDuplicate, l->stats().duplicated);
    add(Event::kControlReorder, l->stats().reordered);
    add(Event::kControlCorrupt, l->stats().corrupted);
  }
  for (const Wire* w : {&a_up_, &a_down_, &b_up_, &b_down_}) {
    add(Event::kLanLoss, lost_to(w->stats()));
    add(Event::kLanReorder, w->stats().reordered);
    add(Event::kLanCorrupt, w->stats().corrupted);
  }
  for (const Proxy* p : {&pa_, &pb_}) {
    const ReasonCounters& n = p->shard.counters().reasons;
    add(Event::kMemoryHard, n[Reason::kMemoryHard]);
    add(Event::kReorderMemory, n[Reason::kReorderMemory]);
    add(Event::kFlowLimit, n[Reason::kFlowLimit]);
    add(Event::kWindowLimit, n[Reason::kWindowLimit]);
  }
  std::set<uint32_t> receivers;
  for (const Pair& w : pairs_) {
    receivers.insert(w.now.host_b);
    add(Event::kEndToEnd, w.now.completion == Completion::kEndToEnd ? 1 : 0);
    if (w.qps.a != nullptr)
      add(Event::kRnr, w.qps.a->responder.stats().rnr_naks + w.qps.b->responder.stats().rnr_naks);
  }
  add(Event::kHosts, o_.hosts - 1);
  add(Event::kReceivers, receivers.size() - 1);
  add(Event::kBudgets, o_.estimator ? 1 : 0);
  return t;
}

}  // namespace matchrdma::swarm
