#include "sim/workload/collective.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "dataplane/base/check.h"

namespace matchrdma::sim {
namespace {

/// A reduce-scatter and an all-gather are the same journey of the same shares, one summing, one copying.
void append_round(Pattern pattern, int64_t bytes, uint32_t rank, uint32_t ranks, std::vector<Step>& steps) {
  const uint32_t sharers = pattern == Pattern::kMirror ? 2 : ranks;
  const int64_t share = std::max<int64_t>(bytes / sharers, 1);
  for (uint32_t i = 1; i < sharers; ++i) {
    uint32_t to = rank ^ i, from = to;
    if (pattern == Pattern::kRing) {
      to = (rank + 1) % ranks;
      from = (rank + ranks - 1) % ranks;
    } else if (pattern == Pattern::kMirror) {
      to = from = (rank + ranks / 2) % ranks;
    }
    steps.push_back({.sends = {{to, share}}, .receives = {from}});
  }
}

void append_burst(int64_t bytes, uint32_t rank, uint32_t ranks, std::vector<Step>& steps) {
  const int64_t share = std::max<int64_t>(bytes / ranks, 1);
  Step s;
  for (uint32_t i = 1; i < ranks; ++i) {
    s.sends.push_back({(rank + i) % ranks, share});  // not all to the same one first
    s.receives.push_back((rank + ranks - i) % ranks);
  }
  steps.push_back(std::move(s));
}

}  // namespace

void append_collective(Collective c, Pattern pattern, int64_t bytes, uint32_t rank, uint32_t ranks,
                       std::vector<Step>& steps) {
  if (c == Collective::kNone || ranks < 2) return;
  MRDMA_CHECK(pattern != Pattern::kPairwise || std::has_single_bit(ranks));
  MRDMA_CHECK(pattern != Pattern::kMirror || ranks % 2 == 0);
  if (c == Collective::kAllToAll) {
    append_burst(bytes, rank, ranks, steps);
  } else {
    append_round(pattern, bytes, rank, ranks, steps);
    if (c == Collective::kAllReduce) append_round(pattern, bytes, rank, ranks, steps);
  }
  steps.back().settles = true;
}

}  // namespace matchrdma::sim
