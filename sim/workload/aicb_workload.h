#pragma once
// Workload W2: iterations of a training job whose ranks stand at both sites (SIMULATOR 5).
#include <cstdint>
#include <utility>
#include <vector>

#include "dataplane/base/prng.h"
#include "sim/workload/collective.h"
#include "sim/workload/workload.h"

namespace matchrdma::sim {

struct AicbSettings {
  Pattern pattern = Pattern::kRing;
  int64_t scale = 64;       ///< k: all bytes and all computing by it
  double jitter = 0;        ///< j: each time of computing x U(1 - j, 1 + j), rank by rank
  uint64_t iterations = 0;  ///< of each rank; 0: no end
  uint64_t seed = 1;
};

/// Duty: takes every rank through the iterations: the layers forward, then backward with both gradients, then
/// the updates. A rank goes on when its own part of a collective is done; nothing computes meanwhile, so an
/// iteration is computing and talking. Of the traffic only what may cross the long link is there: between the
/// ranks that share a layer is a leaf, or less, and it takes no time. An iteration is one micro-batch.
class AicbWorkload final : public Workload, private EventHandler {
 public:
  /// hosts: of the ranks, in their order. Of a pipeline the first half is one stage and the second the next.
  AicbWorkload(Network& network, const AicbModel& model, const AicbSettings& settings,
               std::vector<uint32_t> hosts);

  void open(const Open& open) override;
  void start() override;
  bool done() const override;

  /// Iterations that all ranks have behind them.
  size_t iterations() const { return ends_.size(); }
  /// Of each of these: from the end of the one before at the last rank to its own.
  std::vector<SimSpan> iteration_times() const;

 private:
  static constexpr uint32_t kNoFlow = ~uint32_t{0};
  struct Rank {
    std::vector<Step> program;      ///< one iteration
    std::vector<uint32_t> flow_to;  ///< by rank
    std::vector<uint64_t> arrived;  ///< messages from each rank that no step has waited for yet
    Prng prng{0};
    size_t step = 0;
    bool posted = false;  ///< the step's messages
    bool computing = false;
    uint64_t unacknowledged = 0, iterations = 0;
  };

  void begin(uint32_t r);
  void advance(uint32_t r);
  bool step_is_over(Rank& rank, const Step& step);
  void iteration_over(Rank& rank);
  bool runs(const Rank& r) const { return s_.iterations == 0 || r.iterations < s_.iterations; }
  void on_event(SimTime now, uint64_t rank) override;
  void message_acknowledged(size_t message, SimTime now) override;
  void message_delivered(size_t message, SimTime now) override;

  AicbSettings s_;
  std::vector<uint32_t> hosts_;
  std::vector<Rank> ranks_;
  struct Ends {
    uint32_t source, destination;  ///< ranks
  };
  std::vector<Ends> ends_of_flow_;
  SimTime started_{};
  std::vector<SimTime> ends_;
  std::vector<uint32_t> ranks_done_;  ///< by iteration
};

}  // namespace matchrdma::sim
