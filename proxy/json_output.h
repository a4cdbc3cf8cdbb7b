#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "dataplane/base/result.h"

namespace matchrdma {

/// Writes `json`, indented and with a final newline, to a file; "-" is stdout.
Result<void> write_json(const nlohmann::ordered_json& json, const std::string& path);

}  // namespace matchrdma
