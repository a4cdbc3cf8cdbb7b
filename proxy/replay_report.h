#pragma once
// What a replay found: for programs and for people.
#include <iosfwd>
#include <nlohmann/json.hpp>

#include "pcap/replay_options.h"

namespace matchrdma {

/// What the reports call a proxy and the hosts on its side.
constexpr const char* site_letter(Site s) { return s == 0 ? "A" : "B"; }

/// The contract of `matchrdma replay --json`: keys are added, never renamed; null where there is no value.
nlohmann::ordered_json replay_json(const ReplayOptions& options, const ReplayResult& result);

void print_replay(std::ostream& out, const ReplayOptions& options, const ReplayResult& result);

/// One sentence about a capture without anything to replay; empty when there is something.
std::string nothing_text(const ReplayResult& result);

/// The QP that sends a stream: as the proxies paired it, else as the first pass over the capture guesses.
struct SourceQp {
  std::optional<Qpn> qpn{};
  bool by_proxies = false;
};
SourceQp source_qp(const ReplayResult& result, size_t stream);
/// What the pair was found by, or why not, of the same.
std::string evidence_text(const ReplayResult& result, size_t stream);

/// One sentence: what the proxies gained here; empty when nothing could be measured, or promises were broken.
std::string replay_gain(const ReplayOptions& options, const ReplayResult& result);

}  // namespace matchrdma
