#pragma once
// Quantities as people write them, in the configuration and on a command line, and back.
#include <cstdint>
#include <string>

#include "dataplane/base/result.h"
#include "dataplane/base/time.h"
#include "dataplane/base/types.h"

namespace matchrdma {

// The error of each is a sentence without the text: "not a rate; write it like 100Gbps".

/// "100Gbps", "25G", "400Mbit/s", "1000000000" (bits per second).
Result<Rate> parse_rate(const std::string& text);
/// "10ms", "1.5s", "250us", "0.02" (seconds).
Result<Duration> parse_duration(const std::string& text);
/// "0.01", "1%": a probability.
Result<double> parse_probability(const std::string& text);
/// "1000km", "0.5": kilometres, at most 100000.
Result<double> parse_distance(const std::string& text);
/// "65536", "64K", "1MiB": powers of 1024.
Result<uint64_t> parse_bytes(const std::string& text);
/// A time or a number of bytes of this range, with its unit. A number alone may mean anything: the error
/// proposes what it may have been meant for.
Result<Duration> parse_duration_between(const std::string& text, Duration least, Duration most);
Result<uint64_t> parse_bytes_between(const std::string& text, uint64_t least, uint64_t most);
/// The same for a rate and a distance, of any size.
Result<Rate> parse_rate_with_unit(const std::string& text);
Result<double> parse_distance_with_unit(const std::string& text);
/// A whole number from `least` to `most`, at most 2^53. The error is `remedy`.
Result<uint64_t> parse_whole(const std::string& text, uint64_t least, uint64_t most, const std::string& remedy);
/// A whole number from 0 to 2^53.
Result<uint64_t> parse_seed(const std::string& text);

/// What was read from `text`, or an error that names the option and the text before it says what to do.
template <class T>
Result<T> of_option(const std::string& option, const std::string& text, Result<T> read) {
  if (read) return read;
  return Error{option + " " + text + ": " + read.error()};
}

// The same for the value of an option.
inline Result<Rate> parse_rate(const std::string& option, const std::string& text) {
  return of_option(option, text, parse_rate(text));
}
inline Result<Duration> parse_duration(const std::string& option, const std::string& text) {
  return of_option(option, text, parse_duration(text));
}
inline Result<Duration> parse_duration_between(const std::string& option, const std::string& text,
                                               Duration least, Duration most) {
  return of_option(option, text, parse_duration_between(text, least, most));
}
inline Result<double> parse_probability(const std::string& option, const std::string& text) {
  return of_option(option, text, parse_probability(text));
}
inline Result<double> parse_distance(const std::string& option, const std::string& text) {
  return of_option(option, text, parse_distance(text));
}
inline Result<uint64_t> parse_bytes(const std::string& option, const std::string& text) {
  return of_option(option, text, parse_bytes(text));
}
inline Result<uint64_t> parse_bytes_between(const std::string& option, const std::string& text, uint64_t least,
                                            uint64_t most) {
  return of_option(option, text, parse_bytes_between(text, least, most));
}
inline Result<uint64_t> parse_whole(const std::string& option, const std::string& text, uint64_t least,
                                    uint64_t most, const std::string& remedy) {
  return of_option(option, text, parse_whole(text, least, most, remedy));
}
inline Result<uint64_t> parse_seed(const std::string& option, const std::string& text) {
  return of_option(option, text, parse_seed(text));
}

/// Exact, in the largest unit that leaves a whole number: "100Gbps", "500us", "64MiB".
std::string to_text(Rate r);
std::string to_text(Duration d);
std::string bytes_text(uint64_t bytes);

}  // namespace matchrdma
