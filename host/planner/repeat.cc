// Schemes that repeat what is missing, packet by packet: selective repeat and, behind a code, the rest.
#include <algorithm>
#include <cmath>
#include <utility>

#include "dataplane/base/check.h"
#include "host/planner/chance.h"
#include "host/planner/completion.h"
#include "host/planner/tail.h"

namespace matchrdma::planner {
namespace {

/// Duty: packets sent for the first time, resends among them, and the tail, one behind the other.
class Repeat : public PacketTimes {
 public:
  /// `first`: packets sent for the first time; `dispersion`: of the resends among them; `owed`: packets that
  /// are repeated until they arrive.
  Repeat(double first, double resends, double dispersion, double packets_sent, Groups tail)
      : first_(static_cast<int64_t>(first)),
        resends_(resends),
        packets_sent_(packets_sent),
        among_(count_law(resends, dispersion)),
        tail_(std::move(tail)),
        tail_mean_(tail_.mean()) {}

  double cdf(int64_t packet_times) const override {
    double sum = 0;
    for (const Weighted& w : among_) {
      const int64_t later = packet_times - first_ - w.value;
      if (later >= 0) sum += w.weight * std::exp(tail_.log_done(later));
    }
    return std::min(sum, 1.0);
  }
  double mean() const override { return static_cast<double>(first_) + resends_ + tail_mean_; }
  double packets_sent() const override { return packets_sent_; }

 private:
  int64_t first_;
  double resends_, packets_sent_;
  std::vector<Weighted> among_;
  Tail tail_;
  double tail_mean_;
};

/// A group of `data` packets in codewords of nearly equal size, k data packets at most.
Group group_of(int64_t data, const Code& code, double loss) {
  const int64_t words = (data + code.k - 1) / code.k, longer = data % words, m = code.m;
  return {data + words * m, Owed({{longer, data / words + 1, m}, {words - longer, data / words, m}}, loss)};
}

Groups groups_of(const Line& line, const Code& code) {
  const int64_t data = int64_t{code.k} * code.chunk_packets;
  Groups g;
  g.round = line.round;
  g.loss = line.loss;
  g.full = (line.packets - 1) / data;
  g.last = group_of(line.packets - g.full * data, code, line.loss);
  if (g.full > 0) g.each = group_of(data, code, line.loss);
  return g;
}

/// Resends of full groups until the last packet is sent for the first time. They put off that moment, so that
/// there is time for more: taken again and again until nothing changes.
void settle_resends(Groups& g) {
  const auto round = static_cast<double>(g.round), first = static_cast<double>(g.packets());
  if (g.full == 0 || first <= round) return;
  constexpr int kMostTimes = 200;
  constexpr double kSame = 1e-3;
  for (int i = 0; i < kMostTimes; ++i) {
    const double resends = g.resends_until(first + g.resends_before_end);
    g.resend_share = resends / (first - round + resends);
    if (std::abs(resends - std::exchange(g.resends_before_end, resends)) < kSame) return;
  }
}

}  // namespace

std::unique_ptr<PacketTimes> selective_repeat(const Line& line) {
  // Each place of a round holds a new packet, or the resend of what was lost there a round before: the number
  // of resends before the last new packet is negative binomial, and the last round does not depend on it.
  const int64_t window = std::min(line.packets, line.round);
  Groups g;
  g.round = line.round;
  g.loss = line.loss;
  g.each = g.last = {1, Owed({{1, 1, 0}}, line.loss)};
  g.full = window - 1;
  const double arrives = 1 - line.loss, n = static_cast<double>(line.packets);
  const double resends = static_cast<double>(line.packets - window) * line.loss / arrives;
  return std::make_unique<Repeat>(n, resends, 1 / arrives, n / arrives, std::move(g));
}

std::unique_ptr<PacketTimes> erasure_code(const Line& line, const Code& code) {
  MRDMA_CHECK(code.k > 0 && code.m > 0 && code.k + code.m <= kMostSymbols && code.chunk_packets > 0);
  Groups g = groups_of(line, code);
  settle_resends(g);
  const double arrives = 1 - line.loss, first = static_cast<double>(g.packets());
  const double owed = static_cast<double>(g.full) * g.each.owed.mean() + g.last.owed.mean();
  const double dispersion = (line.loss + g.each.owed.dispersion()) / arrives;
  const double resends = g.resends_before_end;
  return std::make_unique<Repeat>(first, resends, dispersion, first + owed / arrives, std::move(g));
}

}  // namespace matchrdma::planner
