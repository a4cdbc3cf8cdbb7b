#include "sim/workload/fct.h"

#include <algorithm>
#include <cmath>

namespace matchrdma::sim {
namespace {

/// Nearest rank: the least value that `share` of all do not exceed. Not of nothing.
double quantile(std::vector<double>& values, double share) {
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(values.size())));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::max<size_t>(rank, 1) - 1);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

}  // namespace

Completions CompletionSamples::completions() {
  if (us_.empty()) return {};
  return {.messages = us_.size(),
          .mean_us = mean(us_),
          .median_us = quantile(us_, 0.5),
          .p99_us = quantile(us_, 0.99),
          .mean_slowdown = mean(slowdown_),
          .p99_slowdown = quantile(slowdown_, 0.99)};
}

SimSpan IdealPath::at_sender(uint32_t source, uint32_t destination, int64_t bytes) const {
  const auto packet = static_cast<uint32_t>(std::min<int64_t>(bytes, mtu));
  // The base RTT holds one packet on the host's own link, which the size holds too.
  const int64_t rest = bytes - packet;
  const SimSpan size{static_cast<int64_t>(static_cast<double>(rest) * static_cast<double>(kBitPs) /
                                          static_cast<double>(line.bps))};
  return size + network.base_rtt(source, destination, packet);
}

SimSpan IdealPath::at_receiver(uint32_t source, uint32_t destination, int64_t bytes) const {
  const SimSpan both_delays = network.base_rtt(source, destination, 0);
  return at_sender(source, destination, bytes) - SimSpan{both_delays.ps / 2};
}

Fct completion_times(const Workload& load, const IdealPath& ideal, const FlowFilter& filter, SimTime from) {
  CompletionSamples sender, receiver;
  Fct r;
  for (const MessageRecord& m : load.messages()) {
    const Flow& f = load.flow(m.flow);
    if (m.posted < from || !filter(f)) continue;
    if (m.acknowledged.is_never() || m.delivered.is_never()) {
      ++r.unfinished;
      continue;
    }
    sender.add(m.acknowledged - m.posted, ideal.at_sender(f.source, f.destination, m.bytes));
    receiver.add(m.delivered - m.posted, ideal.at_receiver(f.source, f.destination, m.bytes));
  }
  r.sender = sender.completions();
  r.receiver = receiver.completions();
  return r;
}

double jain_index(const std::vector<double>& shares) {
  double sum = 0, squares = 0;
  for (const double share : shares) {
    sum += share;
    squares += share * share;
  }
  return squares == 0 ? 1 : sum * sum / (static_cast<double>(shares.size()) * squares);
}

}  // namespace matchrdma::sim
