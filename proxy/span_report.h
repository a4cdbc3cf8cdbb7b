#pragma once
// What `matchrdma span` tells about itself.
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>

#include "proxy/span_link.h"

namespace matchrdma {

/// What the process used since it started.
struct SpanUse {
  double seconds = 0;      ///< the link was up
  double cpu_seconds = 0;  ///< of this process in that time
  uint64_t sleeps = 0;
};

nlohmann::ordered_json span_json(const SpanLink& link, const io::Port& a, const io::Port& b,
                                 const SpanUse& use);
void print_span(std::ostream& out, const SpanLink& link, const SpanUse& use);
/// One line for a terminal.
std::string span_status(const SpanLink& link);

}  // namespace matchrdma
