#include "host/planner/advice.h"

#include <algorithm>

#include "dataplane/base/check.h"
#include "host/planner/completion.h"

namespace matchrdma::planner {
namespace {

/// Duty: says for each number of packets whether the code is better.
class Comparison {
 public:
  Comparison(const Link& link, const Code& code) : link_(link), code_{Method::kErasureCode, code} {}

  bool code_is_better(uint64_t packets) const {
    const uint64_t bytes = packets * link_.packet_bytes;
    return Completion(link_, bytes, code_).mean() < Completion(link_, bytes, {}).mean();
  }
  /// The least number of packets above `low` from which on it is as it is at `high`, where it changes once.
  uint64_t change(uint64_t low, uint64_t high) const {
    const bool wanted = code_is_better(high);
    while (high - low > 1) {
      const uint64_t middle = low + (high - low) / 2;
      (code_is_better(middle) == wanted ? high : low) = middle;
    }
    return high;
  }

 private:
  Link link_;
  Scheme code_;
};

}  // namespace

std::optional<Crossover> crossover(const Link& link, const Code& code) {
  const Comparison compare(link, code);
  std::vector<uint64_t> sizes;  // in packets
  const uint64_t most = std::max<uint64_t>(1, kLargestMessage / link.packet_bytes);
  for (uint64_t n = 1; n < most; n *= 2) sizes.push_back(n);
  sizes.push_back(most);
  std::vector<bool> better;
  for (const uint64_t n : sizes) better.push_back(compare.code_is_better(n));
  const auto first = static_cast<size_t>(std::find(better.begin(), better.end(), true) - better.begin());
  if (first == sizes.size()) return std::nullopt;
  Crossover c;
  c.begins = (first == 0 ? sizes[0] : compare.change(sizes[first - 1], sizes[first])) * link.packet_bytes;
  const auto last = static_cast<size_t>(better.rend() - std::find(better.rbegin(), better.rend(), true)) - 1;
  if (last + 1 < sizes.size()) c.ends = compare.change(sizes[last], sizes[last + 1]) * link.packet_bytes;
  return c;
}

size_t best_of(const std::vector<Cost>& costs) {
  MRDMA_CHECK(!costs.empty());
  constexpr double kAsGood = 1.01;
  const auto quicker = [](const Cost& a, const Cost& b) { return a.mean < b.mean; };
  const double limit = std::min_element(costs.begin(), costs.end(), quicker)->mean * kAsGood;
  size_t best = costs.size();
  for (size_t i = 0; i < costs.size(); ++i)
    if (costs[i].mean <= limit && (best == costs.size() || costs[i].line_bytes < costs[best].line_bytes))
      best = i;
  return best;
}

}  // namespace matchrdma::planner
