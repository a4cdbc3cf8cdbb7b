#pragma once
// Random paths of the model.
#include <algorithm>

#include "dataplane/base/prng.h"
#include "host/model_fabric/model_net.h"

namespace matchrdma::host::test {

/// Often nothing, seldom much.
inline double drawn_chance(Prng& p, double most) {
  if (p.chance(0.3)) return 0;
  const double u = p.unit();
  return most * u * u * u;
}

/// Lost, overtaken, doubled and held up with up to the given probability each (stalls: a twentieth of it).
inline PathModel drawn_path(Prng& p, double most) {
  PathModel m;
  m.gigabits = p.chance(0.5) ? 100 : 1 + 10 * p.unit();
  m.delay = Duration{p.between(1'000, p.chance(0.5) ? 100'000 : 10'000'000)};
  m.loss = drawn_chance(p, most);
  m.reorder = drawn_chance(p, most);
  m.reorder_by = Duration{p.between(1'000, 500'000)};
  m.duplicate = drawn_chance(p, most);
  m.stale_by = Duration{p.between(1'000, 200'000'000)};
  m.stall = drawn_chance(p, most / 20);
  m.stall_for = Duration{p.between(10'000, 20'000'000)};
  return m;
}

}  // namespace matchrdma::host::test
