#pragma once
// What one rank sends and waits for (SIMULATOR 5, W2: ring or pairwise all-reduce, all-to-all in bursts).
#include <cstdint>
#include <vector>

#include "sim/sim_time.h"
#include "sim/workload/aicb_model.h"

namespace matchrdma::sim {

/// How reductions and gathers go round. Bursts (all-to-all) go to all ranks at once in any case.
enum class Pattern : uint8_t {
  kRing,      ///< to the next rank, ranks - 1 times: two pairs cross the long link, all the time
  kPairwise,  ///< with each other rank in turn, in lock step: all cross it at once in half of the steps, each
              ///< of which costs a one-way delay. Ranks: a power of two
  kMirror,    ///< with the rank in the same place of the other half: all cross it at once, all the time
};

/// One step of a rank: it computes, posts its messages, then waits for one message from each of `receives`.
struct Step {
  struct Send {
    uint32_t rank;
    int64_t bytes;
  };
  SimSpan compute{};
  std::vector<Send> sends{};
  std::vector<uint32_t> receives{};
  bool settles = false;  ///< waits also until all it has posted is acknowledged: the buffers are used again
};

/// Appends the steps of `rank` among `ranks`, `bytes` being the whole buffer: a step's message is a share of
/// it.
void append_collective(Collective c, Pattern pattern, int64_t bytes, uint32_t rank, uint32_t ranks,
                       std::vector<Step>& steps);

}  // namespace matchrdma::sim
