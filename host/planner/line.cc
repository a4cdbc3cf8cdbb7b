#include "host/planner/line.h"

#include <algorithm>
#include <cmath>

#include "dataplane/base/check.h"

namespace matchrdma::planner {

std::string scheme_name(const Scheme& s) {
  const std::string symbols = "(" + std::to_string(s.code.k) + "," + std::to_string(s.code.m) + ")";
  switch (s.method) {
    case Method::kSelectiveRepeat:
      return "SR";
    case Method::kErasureCode:
      return (s.code.m == 1 ? "XOR" : "EC") + symbols;
    case Method::kGoBackN:
      break;
  }
  return "go-back-N";
}

Code xor_like(const Code& code) {
  Code c = code;
  c.k = std::max(1u, code.k / code.m);
  c.m = 1;
  return c;
}

Line::Line(const Link& link, uint64_t message_bytes) {
  MRDMA_CHECK(message_bytes > 0 && link.packet_bytes > 0 && link.rate.bps > 0 && link.rtt.ns >= 0);
  MRDMA_CHECK(link.loss >= 0 && link.loss <= kMostLoss);
  constexpr double kNanos = 1e-9, kBits = 8;
  const uint64_t bytes = std::min(link.packet_bytes, message_bytes);
  packets = static_cast<int64_t>((message_bytes - 1) / bytes + 1);
  packet_bytes = static_cast<double>(bytes);
  packet_time = packet_bytes * kBits / static_cast<double>(link.rate.bps);
  const double rtt = static_cast<double>(link.rtt.ns) * kNanos;
  before = link.cold ? 2 * rtt : rtt;
  const double rto = link.rto.ns == 0 ? rtt : static_cast<double>(link.rto.ns) * kNanos;
  constexpr double kRounding = 1e-9;
  round = static_cast<int64_t>(std::ceil(rto / packet_time * (1 - kRounding))) + 1;
  loss = link.loss;
}

}  // namespace matchrdma::planner
