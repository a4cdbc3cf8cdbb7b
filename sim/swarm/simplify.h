#pragma once
// Ways to make a failing schedule simpler.
#include <functional>
#include <vector>

#include "sim/swarm/options.h"

namespace matchrdma::swarm {

/// In the order they are tried; each is true when it changed something.
std::vector<std::function<bool(Options&)>> simplifications();

}  // namespace matchrdma::swarm
