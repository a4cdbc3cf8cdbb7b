#pragma once
// How many packets a group of codewords still needs when all of it has been sent once, and when it has them.
#include <cstddef>
#include <cstdint>
#include <vector>

namespace matchrdma::planner {

/// Codewords of one shape. Of j lost packets j - parity are owed.
struct Words {
  int64_t count = 0, data = 0, parity = 0;
};

/// Duty: what codewords that end together owe, when each packet is lost with chance p. The first packet owed is
/// repeated one round after the end of the group, the others right behind it, and each once a round until it
/// arrives. Selective repeat is the group {1, 1, 0}: one packet, without parity.
class Owed {
 public:
  Owed() = default;
  Owed(const std::vector<Words>& words, double p);

  /// Log of the chance that all has arrived when each packet owed was repeated so often. Of {1, 1, 0} it is
  /// log(1 - p^(1 + repeats)) (HOST, planner). Exactly 0 when it no longer matters.
  double log_done(int64_t repeats) const {
    return repeats < static_cast<int64_t>(log_done_.size()) ? log_done_[static_cast<size_t>(repeats)] : 0;
  }
  /// The same so many packet times after the end of the group, when a round is `round` of them.
  double log_done_after(int64_t packet_times, int64_t round) const;
  /// Packets owed at most, but for a chance that does not matter.
  int64_t most() const { return static_cast<int64_t>(chances_.size()); }
  /// Their mean, and their variance / mean.
  double mean() const { return mean_; }
  double dispersion() const { return dispersion_; }

 private:
  double log_lost_ = 0;
  std::vector<double> chances_;  ///< of owing 1, 2, ...
  std::vector<double> log_done_;
  double mean_ = 0, dispersion_ = 1;
};

}  // namespace matchrdma::planner
