#include "proxy/daemon/log.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace matchrdma::daemon {
namespace {

std::shared_ptr<spdlog::logger>& holder() {
  static std::shared_ptr<spdlog::logger> logger =
      std::make_shared<spdlog::logger>("matchrdmad", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  return logger;
}

spdlog::level::level_enum level_of(LogLevel l) {
  switch (l) {
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kDebug:
      return spdlog::level::debug;
  }
  return spdlog::level::info;
}

}  // namespace

spdlog::logger& log() { return *holder(); }

Result<void> start_log(const LogConfig& config, const std::string& name) {
  try {
    spdlog::sink_ptr sink;
    if (config.file.empty()) {
      sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    } else {
      sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(config.file);
    }
    auto logger = std::make_shared<spdlog::logger>(name, sink);
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e %n %l: %v");
    logger->set_level(level_of(config.level));
    logger->flush_on(spdlog::level::info);
    holder() = logger;
  } catch (const spdlog::spdlog_ex& e) {
    return Error{"log file " + config.file + ": " + e.what() + "; name a file in a folder that exists"};
  }
  return {};
}

}  // namespace matchrdma::daemon
