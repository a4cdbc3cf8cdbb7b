#include "tests/learning/recipe.h"

#include <cstdio>

#include "dataplane/base/prng.h"

namespace matchrdma::learning {
namespace {

void everything_at_once(TraceRecipe& r, Prng& p) {
  static constexpr TracePort kPorts[] = {TracePort::kHash, TracePort::kFixed, TracePort::kOwnQpn,
                                         TracePort::kPerQp};
  r.source_port = kPorts[p.below(4)];
  r.psn = p.chance(0.5) ? TracePsn::kZero : TracePsn::kRandom;
  r.setup = p.chance(0.2) ? TraceSetup::kCm : TraceSetup::kOutOfBand;
  if (p.chance(0.3)) r.join_after = Duration::millis(p.between(1, 60));
  if (p.chance(0.3)) r.hide = 0.5;
  r.hide_direction = static_cast<TraceHidden>(p.below(3));
  r.reuse = p.chance(0.3);
  r.loss = p.chance(0.3) ? 0.01 : 0;
  r.ipv6 = p.chance(0.3);
  if (p.chance(0.3)) r.vlans = {100};
  r.hosts = p.chance(0.2) ? 2 : 1;
  r.pattern = p.chance(0.3) ? TracePattern::kMixed : r.pattern;
}

}  // namespace

TraceRecipe random_recipe(uint64_t seed) {
  Prng p(seed);
  TraceRecipe r;
  r.seed = seed;
  r.qps = p.chance(0.15) ? 64 : 8;
  r.message = p.chance(0.5) ? 1024 : 4096;
  r.pattern = p.chance(0.5) ? TracePattern::kTraining : TracePattern::kWrite;
  r.compute = Duration::millis(p.between(5, 40));
  r.duration = Duration::seconds(1);
  r.iterations = static_cast<uint32_t>(p.between(4, 6));
  r.distance_km = p.chance(0.5) ? 0 : static_cast<double>(p.between(1, 300));
  r.qpn = p.chance(0.5) ? TraceQpn::kSequential : TraceQpn::kRandom;
  r.tap = p.chance(0.5) ? TraceTap::kA : TraceTap::kB;
  r.psn = TracePsn::kZero;
  switch (kind_of(seed)) {
    case 0:
      break;
    case 1:
      r.psn = TracePsn::kRandom;
      break;
    case 2:
      r.source_port = TracePort::kOwnQpn;
      break;
    case 3:
      r.source_port = TracePort::kPerQp, r.psn = TracePsn::kRandom;
      break;
    case 4:
      r.source_port = TracePort::kFixed;
      break;
    case 5:
      r.source_port = TracePort::kFixed, r.psn = TracePsn::kRandom;
      break;
    case 6:
      r.setup = TraceSetup::kCm, r.psn = TracePsn::kRandom;
      break;
    case 7:
      r.join_after = Duration::millis(60), r.iterations += 4;
      break;
    case 8:
      r.join_after = Duration::millis(60), r.iterations += 4, r.source_port = TracePort::kFixed;
      break;
    case 9:
      r.reuse = true, r.psn = p.chance(0.5) ? TracePsn::kZero : TracePsn::kRandom;
      break;
    case 10:
      r.hide = 0.5;
      break;
    case 11:
      r.hide = 0.5;
      r.hide_direction = p.chance(0.5) ? TraceHidden::kFromA : TraceHidden::kFromB;
      r.psn = p.chance(0.5) ? TracePsn::kZero : TracePsn::kRandom;
      break;
    default:
      everything_at_once(r, p);
  }
  return r;
}

std::string describe(const TraceRecipe& r) {
  char text[256];
  std::snprintf(
      text, sizeof text,
      "seed %llu (%s): %u QPs, message %u, %u iterations, %.0f km, port %d, PSN %d, hide %.1f/%d, reuse %d",
      static_cast<unsigned long long>(r.seed), kKinds[kind_of(r.seed)].name, r.qps, r.message, r.iterations,
      r.distance_km, static_cast<int>(r.source_port), static_cast<int>(r.psn), r.hide,
      static_cast<int>(r.hide_direction), r.reuse);
  return text;
}

}  // namespace matchrdma::learning
