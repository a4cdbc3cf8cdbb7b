#pragma once
// Slots of an estimator as a file: {"slots": [ROW, ...]}, as `ctl --json show slots` prints them.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "controlplane/estimator/level.h"
#include "controlplane/estimator/rate_window.h"
#include "dataplane/base/result.h"
#include "pcap/replay_options.h"

namespace matchrdma {

/// What a row says that can be drawn. Rates in Gb/s, volumes in bytes.
struct SlotPoint {
  int64_t slot = 0;
  int64_t governs = 0;  ///< the slot that forecast, budget and projected queue are for
  double arrived = 0, acked = 0, capacity = 0, forecast = 0, budget = 0;
  double backlog = 0, queue = 0, projected = 0;
  double period = 0;  ///< slots; 0: none
  bool saturated = false;
  CongestionLevel level = CongestionLevel::kLow;
  WindowKind window = WindowKind::kNone;
};

/// The slots of one receiver behind one span, in order of time, each once.
struct SlotSeries {
  std::string span, receiver;
  uint64_t vlan = 0, inner_vlan = 0;
  Duration slot;
  std::vector<SlotPoint> points;
};

/// Rows in any order, of any number of receivers; sorted by span and receiver. `name`: of the file, for errors.
Result<std::vector<SlotSeries>> parse_slots(std::string_view text, const std::string& name);
/// "-" is stdin.
Result<std::vector<SlotSeries>> read_slots(const std::string& path);

/// One row a line; the spans are "A" and "B", after the proxy that made the budget.
Result<void> write_slots(const EstimatorSettings& settings, const std::vector<ReplaySlot>& slots,
                         const std::string& path);

}  // namespace matchrdma
