#pragma once
// One random schedule: hosts, two proxies, what the wires and strangers do to them. A function of the seed;
// every field can be made simpler by the shrinker.
#include <optional>
#include <string>
#include <vector>

#include "controlplane/estimator/settings.h"
#include "dataplane/flow/limits.h"
#include "dataplane/flow/policy.h"
#include "model/host.h"
#include "model/span.h"

namespace matchrdma::swarm {

enum class Join : uint8_t { kFresh, kMidFlow, kNever };

/// How a QP is reset and begins anew with its old number (PROTOCOL 3, C4).
enum class Reset : uint8_t {
  kNone,
  kUnregister,  ///< its host fences it, UNREGISTER is answered, then it is registered anew
  kRegister,    ///< it is registered under another starting PSN
};

/// A fault put into the world on purpose, which must be found.
enum class Canary : uint8_t {
  kNone,
  kPayload,  ///< the span turns one payload byte and mends the ICRC
  kMemory,   ///< some packets are never given back
};

struct PairOptions {
  model::PairConfig pair;
  uint32_t host_a = 0, host_b = 0;  ///< which hosts of their sides
  Completion completion = Completion::kEarly;
  Join join = Join::kFresh;
  int64_t work_a = 8, work_b = 0;  ///< work requests posted by a, by b
  uint32_t max_length = 16 * 1024;
  bool sends = true, writes = true, reads = true, atomics = true;
  uint8_t fatal = 0;      ///< syndrome b's responder answers with somewhere; 0: healthy
  Duration post_every{};  ///< 0: all at once
  Reset reset = Reset::kNone;
  Instant reset_at = Instant::never();
};

/// Packets of strangers, put in at the doors of the proxies.
struct Hostility {
  Duration every{};  ///< mean time between two; 0: there are none
  int64_t packets = 0;
  bool lan = true, wan = true;
};

struct Options {
  uint64_t seed = 0;
  std::vector<PairOptions> pairs;
  model::SpanConfig lan, wan, control;
  uint32_t hosts = 1;  ///< on each side
  model::HostConfig host;
  Hostility hostile;
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
  /// The same for proxy A, whose promises are then gone: what its journal names fails, all else goes on.
  Instant restart_a_at = Instant::never();
  Duration restart_a_for;
  bool scarce = false;    ///< limits leave no room for some flows, which stay transparent
  bool watchful = false;  ///< the learners watch what nobody registered
  Duration proxy_age;     ///< how long the proxies had been running before: no rule may count from their start
  bool clean = false;     ///< nothing goes wrong: then no receiver may miss anything either
  Canary canary = Canary::kNone;
};

/// Two hosts and what a seed does to them.
Options random_options(uint64_t seed);
/// The same schedule with more of everything: hosts, QPs, strangers, resets, storms, smaller limits, restarts
/// of either proxy.
Options swarm_options(uint64_t seed);
/// One line a field that differs from the simplest schedule.
std::string describe(const Options& o);

}  // namespace matchrdma::swarm
