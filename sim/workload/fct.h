#pragma once
// Completion times and fairness of a run (SIMULATOR 7, "3e FCT" and "extra").
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/workload/workload.h"

namespace matchrdma::sim {

/// Which flows a figure speaks of: inter or intra, a site, all.
using FlowFilter = std::function<bool(const Flow&)>;

/// Completion times of messages at one end. Slowdown: time over what an empty network takes.
struct Completions {
  size_t messages = 0;
  double mean_us = 0, median_us = 0, p99_us = 0;
  double mean_slowdown = 0, p99_slowdown = 0;
};

/// Duty: collects completion times.
class CompletionSamples {
 public:
  void add(SimSpan took, SimSpan ideal) {
    us_.push_back(took.us());
    slowdown_.push_back(took.us() / ideal.us());
  }
  Completions completions();

 private:
  std::vector<double> us_, slowdown_;
};

struct Fct {
  Completions sender;     ///< last (pseudo-)ACK
  Completions receiver;   ///< last byte, in order
  size_t unfinished = 0;  ///< messages that have not come to both ends; in neither of the above
};

/// What an empty network is.
struct IdealPath {
  const Network& network;
  Rate line;     ///< of hosts
  uint32_t mtu;  ///< payload bytes of a packet
  /// Size over line rate and the base RTT; at the receiver without the way back. Headers are not in it, so no
  /// transfer is faster.
  SimSpan at_sender(uint32_t source, uint32_t destination, int64_t bytes) const;
  SimSpan at_receiver(uint32_t source, uint32_t destination, int64_t bytes) const;
};

/// Of the messages posted from `from` on.
Fct completion_times(const Workload& load, const IdealPath& ideal, const FlowFilter& filter, SimTime from = {});

/// Jain's index over what each flow got: 1 where all got the same, or none anything; 1/n where one got all.
double jain_index(const std::vector<double>& shares);

}  // namespace matchrdma::sim
