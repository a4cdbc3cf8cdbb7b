#pragma once
// One random schedule: two hosts, two proxies, what the wires do to them. A function of the seed; every field
// can be made simpler by the shrinker.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "controlplane/estimator/settings.h"
#include "dataplane/flow/limits.h"
#include "dataplane/flow/policy.h"
#include "model/host.h"
#include "model/span.h"

namespace matchrdma::schedules {

enum class Join : uint8_t { kFresh, kMidFlow, kNever };

struct PairOptions {
  model::PairConfig pair;
  Completion completion = Completion::kEarly;
  Join join = Join::kFresh;
  int64_t work_a = 8, work_b = 0;  ///< work requests posted by a, by b
  uint32_t max_length = 16 * 1024;
  bool sends = true, writes = true, reads = true, atomics = true;
  uint8_t fatal = 0;      ///< syndrome b's responder answers with somewhere; 0: healthy
  Duration post_every{};  ///< 0: all at once
};

struct Options {
  uint64_t seed = 0;
  std::vector<PairOptions> pairs;
  model::SpanConfig lan, wan, control;
  model::HostConfig host;
  Tuning tuning;
  Timing timing;
  Limits limits;
  bool transparent = false;
  std::optional<EstimatorSettings> estimator;  ///< makes budgets at both proxies; `tuning.slot` is its slot
  /// What proxy B's receivers take changes between `tuning.egress` and this, every half of `wave`.
  Rate low_egress{};
  Duration wave{};           ///< 0: it does not change
  bool wave_behind = false;  ///< it is their network that changes, and proxy B sees it only in their ACKs
  bool looks = true;         ///< the estimator is told what is seen within a slot
  double budget_loss = 0;    ///< of BUDGETs, besides what the control span loses
  model::SpanCut no_budgets{{}, {}};  ///< none gets through
  /// Proxy B dies and is back with an empty memory after `restart_for`. It is nobody's source in such a
  /// schedule, so nothing may be lost.
  Instant restart_at = Instant::never();
  Duration restart_for;
  Duration proxy_age;  ///< how long the proxies had been running before: no rule may count from their start
  bool clean = false;  ///< nothing goes wrong: then no receiver may miss anything either
  bool canary =
      false;  ///< a fault put into the world on purpose: the span turns one payload byte and mends the ICRC
};

Options random_options(uint64_t seed);
/// One line a field that differs from the simplest schedule.
std::string describe(const Options& o);
/// Ways to make a schedule simpler, in the order they are tried.
std::vector<std::function<bool(Options&)>> simplifications();

}  // namespace matchrdma::schedules
