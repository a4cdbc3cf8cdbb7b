#pragma once
// What a replay found: for programs and for people.
#include <iosfwd>
#include <nlohmann/json.hpp>

#include "pcap/replay_options.h"

namespace matchrdma {

/// The contract of `matchrdma replay --json`: keys are added, never renamed; null where there is no value.
nlohmann::ordered_json replay_json(const ReplayOptions& options, const ReplayResult& result);

void print_replay(std::ostream& out, const ReplayOptions& options, const ReplayResult& result);

/// One sentence: what the proxies gained here; empty when nothing could be measured.
std::string replay_gain(const ReplayOptions& options, const ReplayResult& result);

}  // namespace matchrdma
