#pragma once
// What an emulated link does to its frames, as people set it: at the start and while it runs.
#include <nlohmann/json.hpp>
#include <string>

#include "dataplane/base/bytes.h"
#include "dataplane/base/result.h"
#include "dataplane/base/time.h"
#include "dataplane/base/types.h"
#include "model/span.h"

namespace matchrdma {

/// Which frames the loss may hit.
enum class LossFilter : uint8_t {
  kAll,
  kRoce,      ///< RC packets of RoCEv2
  kRoceData,  ///< RC requests of RoCEv2
  kPort,      ///< RoCEv2 from one UDP source port: one of several paths
};

struct SpanSettings {
  Duration delay{};                  ///< one way
  Rate rate{};                       ///< of each direction; 0: unlimited
  uint64_t queue_bytes = 16u << 20;  ///< of what waits for the rate, each direction
  double loss_ab = 0, loss_ba = 0, reorder = 0, duplicate = 0;
  Duration reorder_extra = Duration::micros(100);
  LossFilter loss_filter = LossFilter::kAll;
  uint16_t loss_port = 0;  ///< of kPort
};

/// One setting by its name, as written behind `--` on the command line and in `set NAME=VALUE`: delay,
/// distance, rate, queue, loss, loss-ab, loss-ba, reorder, reorder-extra, duplicate, loss-filter.
Result<void> change_setting(SpanSettings& settings, const std::string& name, const std::string& value);

/// What a Span of the model needs; `loss` of that direction.
void apply_settings(const SpanSettings& settings, double loss, model::SpanConfig& config);

/// Whether the loss may hit this frame.
bool may_be_lost(const SpanSettings& settings, Bytes frame);

nlohmann::ordered_json settings_json(const SpanSettings& settings);

}  // namespace matchrdma
