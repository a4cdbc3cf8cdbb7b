#pragma once
// Rows of slots as the daemon and the replayer print them.
#include <nlohmann/json.hpp>
#include <string>

#include "controlplane/service/slot_json.h"
#include "dataplane/base/ip_text.h"

namespace matchrdma {

/// Slot number `slot` of a receiver with a horizon of `horizon` slots of 200 us.
inline nlohmann::ordered_json slot_row(int64_t slot, int horizon, const std::string& receiver = "10.2.0.1",
                                       const std::string& span = "B") {
  service::SlotRow row;
  row.group.dst = ip_from_text(receiver).value();
  SlotWhy& w = row.slot.why;
  w.slot = slot;
  w.horizon = horizon;
  w.arrived = 40;
  w.sample = {SampleKind::kSaturated, 50, 30, false};
  w.c = 50;
  w.forecast = 60;
  w.backlog = 1000;
  w.queue = 2000;
  w.projected = 3000;
  row.slot.budget.rate = Rate{55'000'000'000};
  return service::slot_json(span, Duration::micros(200), row);
}

inline std::string slots_text(nlohmann::ordered_json rows) {
  return nlohmann::ordered_json{{"slots", std::move(rows)}}.dump();
}

}  // namespace matchrdma
