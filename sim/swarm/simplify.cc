#include "sim/swarm/simplify.h"

#include <utility>

namespace matchrdma::swarm {

std::vector<std::function<bool(Options&)>> simplifications() {
  using O = Options&;
  std::vector<std::function<bool(Options&)>> s;
  const auto zero = [&s](auto field) {
    s.push_back([field](O o) {
      if (field(o) == 0) return false;
      field(o) = 0;
      return true;
    });
  };
  s.push_back([](O o) { return o.pairs.size() > 1 && (o.pairs.erase(o.pairs.begin()), true); });
  s.push_back([](O o) { return o.pairs.size() > 1 && (o.pairs.pop_back(), true); });
  zero([](O o) -> int64_t& { return o.pairs[0].work_b; });
  zero([](O o) -> int64_t& { return o.proxy_age.ns; });
  s.push_back([](O o) { return o.pairs[0].work_a > 1 && (o.pairs[0].work_a /= 2, true); });
  s.push_back([](O o) { return o.pairs[0].work_a > 1 && (o.pairs[0].work_a -= 1, true); });
  zero([](O o) -> double& { return o.lan.loss; });
  zero([](O o) -> double& { return o.lan.duplicate; });
  zero([](O o) -> double& { return o.lan.reorder; });
  zero([](O o) -> double& { return o.lan.corrupt; });
  zero([](O o) -> double& { return o.control.loss; });
  zero([](O o) -> double& { return o.control.duplicate; });
  zero([](O o) -> double& { return o.control.reorder; });
  zero([](O o) -> double& { return o.control.corrupt; });
  zero([](O o) -> double& { return o.wan.corrupt; });
  zero([](O o) -> double& { return o.wan.duplicate; });
  zero([](O o) -> double& { return o.wan.reorder; });
  zero([](O o) -> double& { return o.wan.loss; });
  s.push_back([](O o) { return !o.restart_at.is_never() && (o.restart_at = Instant::never(), true); });
  s.push_back([](O o) { return !o.wan.cuts.empty() && (o.wan.cuts.clear(), o.control.cuts.clear(), true); });
  s.push_back([](O o) { return o.pairs[0].reads && (o.pairs[0].reads = false, true); });
  s.push_back([](O o) { return o.pairs[0].atomics && (o.pairs[0].atomics = false, true); });
  s.push_back([](O o) { return o.pairs[0].sends && o.pairs[0].writes && (o.pairs[0].sends = false, true); });
  s.push_back([](O o) {
    auto& q = o.pairs[0].pair;
    return q.responder_b.receive_queue >= 0 &&
           (q.responder_b.receive_queue = q.responder_a.receive_queue = -1, true);
  });
  s.push_back([](O o) {
    auto& q = o.pairs[0].pair;
    if (!q.requester_a.use_credits) return false;
    q.requester_a.use_credits = q.requester_b.use_credits = false;
    q.responder_a.advertise_credits = q.responder_b.advertise_credits = false;
    return true;
  });
  s.push_back([](O o) { return o.pairs[0].join != Join::kFresh && (o.pairs[0].join = Join::kFresh, true); });
  s.push_back([](O o) { return o.pairs[0].post_every.ns > 0 && (o.pairs[0].post_every = Duration{}, true); });
  s.push_back([](O o) {
    const Tuning plain;
    return o.tuning.budget != plain.budget && (o.tuning.budget = plain.budget, true);
  });
  s.push_back([](O o) {
    const Limits plain;
    return o.limits.custody_hard_bytes != plain.custody_hard_bytes &&
           (o.limits.custody_hard_bytes = plain.custody_hard_bytes,
            o.limits.custody_soft_bytes = plain.custody_soft_bytes, true);
  });
  zero([](O o) -> int64_t& { return o.hostile.packets; });
  s.push_back([](O o) { return !o.restart_a_at.is_never() && (o.restart_a_at = Instant::never(), true); });
  s.push_back([](O o) {
    bool any = false;
    for (PairOptions& p : o.pairs) any = std::exchange(p.reset, Reset::kNone) != Reset::kNone || any;
    return any;
  });
  s.push_back([](O o) {
    bool any = false;
    for (PairOptions& p : o.pairs) any = std::exchange(p.host_a, 0) + std::exchange(p.host_b, 0) > 0 || any;
    return any;
  });
  s.push_back([](O o) { return o.watchful && (o.watchful = false, true); });
  s.push_back([](O o) { return o.wave.ns > 0 && (o.wave = Duration{}, true); });
  s.push_back([](O o) { return o.estimator && (o.estimator.reset(), o.tuning.slot = Duration{}, true); });
  return s;
}

}  // namespace matchrdma::swarm
