#pragma once
// The tool's side of the admin socket.
#include <nlohmann/json.hpp>
#include <string>

#include "dataplane/base/result.h"

namespace matchrdma {

/// Sends one request and waits for its reply; errors say what to do. "v" is filled in.
Result<nlohmann::ordered_json> ask_daemon(const std::string& socket, nlohmann::ordered_json request);

}  // namespace matchrdma
