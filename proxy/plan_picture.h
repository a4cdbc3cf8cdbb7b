#pragma once
// Mean completion times over the size of the message, as a picture.
#include <string>

#include "proxy/plan_report.h"

namespace matchrdma {

/// Two plots as one SVG, from one packet to 64 GiB: the mean of each scheme in milliseconds, and how much
/// longer that is than without loss, where orders and crossovers are easier to see.
std::string plan_svg(const PlanQuestion& q);

}  // namespace matchrdma
