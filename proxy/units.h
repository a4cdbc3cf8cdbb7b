#pragma once
// Quantities as people write them on a command line.
#include <cstdint>
#include <string>

#include "dataplane/base/result.h"
#include "dataplane/base/time.h"
#include "dataplane/base/types.h"

namespace matchrdma {

/// "100Gbps", "25G", "400Mbit/s", "1000000000" (bits per second).
Result<Rate> parse_rate(const std::string& option, const std::string& text);
/// "10ms", "1.5s", "250us", "0.02" (seconds).
Result<Duration> parse_duration(const std::string& option, const std::string& text);
/// "0.01", "1%": a probability.
Result<double> parse_probability(const std::string& option, const std::string& text);
/// "1000km", "0.5": kilometres, at most 100000.
Result<double> parse_distance(const std::string& option, const std::string& text);
/// "65536", "64K", "1MiB": powers of 1024.
Result<uint64_t> parse_bytes(const std::string& option, const std::string& text);
/// A whole number from `least` to `most`, at most 2^53.
Result<uint64_t> parse_whole(const std::string& option, const std::string& text, uint64_t least, uint64_t most,
                             const std::string& remedy);
/// A whole number from 0 to 2^53.
Result<uint64_t> parse_seed(const std::string& option, const std::string& text);

}  // namespace matchrdma
