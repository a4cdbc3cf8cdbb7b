#pragma once
// Quantities as people write them on a command line.
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
/// A number of at least `least` and at most `most`.
Result<double> parse_number(const std::string& option, const std::string& text, double least, double most,
                            const std::string& remedy);

}  // namespace matchrdma
