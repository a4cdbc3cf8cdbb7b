#pragma once
#include <string>

#include "controlplane/service/json_fields.h"
#include "controlplane/service/slot_history.h"

namespace matchrdma::service {

/// Every term of one slot (ESTIMATOR 1 to 10): rates in bit/s, volumes in bytes, times in ns.
Json slot_json(const std::string& span, Duration slot, const SlotRow& row);

}  // namespace matchrdma::service
