#pragma once
#include <array>
#include <string>

#include "controlplane/service/json_fields.h"
#include "controlplane/service/slot_history.h"

namespace matchrdma::service {

/// How the JSON calls a CongestionLevel and a WindowKind, by their number.
inline constexpr std::array<const char*, 3> kLevelKeys{"low", "moderate", "high"};
inline constexpr std::array<const char*, 4> kWindowKeys{"none", "jitter", "stable", "recurrent"};

/// Every term of one slot (ESTIMATOR 1 to 10): rates in bit/s, volumes in bytes, times in ns.
Json slot_json(const std::string& span, Duration slot, const SlotRow& row);

}  // namespace matchrdma::service
