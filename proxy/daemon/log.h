#pragma once
// The daemon's log: sentences for people, on stderr or in a file. Workers and the core never log.
#include <memory>

#include <spdlog/logger.h>

#include "config/config.h"
#include "dataplane/base/result.h"

namespace matchrdma::daemon {

/// Before start_log(): to stderr.
spdlog::logger& log();
Result<void> start_log(const LogConfig& config, const std::string& name);

}  // namespace matchrdma::daemon
