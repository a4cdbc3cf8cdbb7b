#include "host/planner/completion.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "dataplane/base/check.h"
#include "host/planner/chance.h"

namespace matchrdma::planner {
namespace {

constexpr int64_t kMostTimes = int64_t{1} << 60;  // packet times: years, on the fastest line

std::unique_ptr<PacketTimes> law_of(const Line& line, const Scheme& s) {
  switch (s.method) {
    case Method::kSelectiveRepeat:
      return selective_repeat(line);
    case Method::kErasureCode:
      return erasure_code(line, s.code);
    case Method::kGoBackN:
      break;
  }
  return go_back_n(line);
}

class GoBackN : public PacketTimes {
 public:
  explicit GoBackN(const Line& line) : line_(line) {}

  double cdf(int64_t packet_times) const override {
    if (packet_times < line_.packets) return 0;
    return failures_at_most(line_.packets, (packet_times - line_.packets) / line_.round, line_.loss);
  }
  double mean() const override {
    return static_cast<double>(line_.packets) * (1 + per_packet() * static_cast<double>(line_.round));
  }
  /// A failure wastes a round of the line, or what is left of the message.
  double packets_sent() const override {
    const auto n = static_cast<double>(line_.packets), round = static_cast<double>(line_.round);
    const double wasted = n <= round ? n * (n + 1) / 2 : round * (round + 1) / 2 + (n - round) * round;
    return n + per_packet() * wasted;
  }

 private:
  /// Failures of one packet.
  double per_packet() const { return line_.loss / (1 - line_.loss); }
  Line line_;
};

}  // namespace

std::unique_ptr<PacketTimes> go_back_n(const Line& line) { return std::make_unique<GoBackN>(line); }

Completion::Completion(const Link& link, uint64_t message_bytes, const Scheme& scheme)
    : line_(link, message_bytes), law_(law_of(line_, scheme)) {}

double Completion::cdf(double seconds) const {
  constexpr double kRounding = 1e-3;  // of a packet time: what a quotient may be off
  const double n = (seconds - line_.before) / line_.packet_time + kRounding;
  return n < 1 ? 0 : law_->cdf(static_cast<int64_t>(std::min(n, static_cast<double>(kMostTimes))));
}

double Completion::quantile(double q) const {
  MRDMA_CHECK(q > 0 && q < 1);
  int64_t low = 0, high = std::max<int64_t>(1, line_.packets);  // P(low) < q
  while (law_->cdf(high) < q) {
    if (high > kMostTimes) return std::numeric_limits<double>::infinity();
    low = std::exchange(high, 2 * high);
  }
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (law_->cdf(middle) < q ? low : high) = middle;
  }
  return line_.seconds(static_cast<double>(high));
}

}  // namespace matchrdma::planner
