#pragma once
// The rhythm of training: computing, then a burst on every queue pair, and again.
#include <memory>
#include <vector>

#include "dataplane/base/prng.h"
#include "pcap/make/burst.h"

namespace matchrdma {

/// Duty: says when bursts begin and when they are over. Does not know what is posted.
class Iterations {
 public:
  /// Begins to compute at `now`. `r` and `lanes` must outlive it.
  Iterations(const TraceRecipe& r, std::vector<Lane>& lanes, uint64_t seed, Instant now);

  /// Posts what is due. Call after every event.
  void run(Instant now);
  /// When the clock alone makes run() do something.
  Instant next() const;
  bool finished() const { return phase_ == Phase::kFinished; }

 private:
  enum class Phase : uint8_t { kCompute, kBurst, kFinished };
  static constexpr uint64_t kMessages = 8;  ///< of a burst on one queue pair
  bool burst_is_over() const;
  void begin_burst(Instant now);
  void compute(Instant now);

  const TraceRecipe& r_;
  std::vector<Lane>& lanes_;
  Prng prng_;
  std::unique_ptr<Burst> burst_;
  Phase phase_ = Phase::kCompute;
  Instant end_ = Instant::never();  ///< no burst begins later
  Instant burst_at_{}, ran_{};
  std::vector<Instant> lane_begins_;
  uint32_t done_ = 0;
  uint64_t target_ = 0;
};

}  // namespace matchrdma
