#pragma once
// One training iteration as SimAI's AICB describes it (SIMULATOR 5, W2), and the reader of its text format.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/base/result.h"

namespace matchrdma::sim {

enum class Collective : uint8_t { kNone, kAllReduce, kReduceScatter, kAllGather, kAllToAll };

/// Part of a layer's work: it computes, then its ranks talk.
struct AicbPhase {
  int64_t compute_ns = 0;
  Collective collective = Collective::kNone;
  bool experts = false;  ///< between the ranks that share experts
  int64_t bytes = 0;     ///< of the whole buffer; 0 exactly where there is no collective
};

struct AicbLayer {
  std::string name;
  AicbPhase forward, input_gradient, weight_gradient;
  int64_t update_ns = 0;
};

struct AicbModel {
  uint32_t tensor_parallel = 1;  ///< ranks that share a layer
  uint32_t pipeline_stages = 1;  ///< layers are spread over so many groups of ranks
  int64_t hand_over_bytes = 0;   ///< of one rank from stage to stage
  std::vector<AicbLayer> layers{};
};

/// Most bytes of a buffer and most nanoseconds of a phase that the reader takes: far above any machine's.
inline constexpr int64_t kMostAicbBytes = int64_t{1} << 40, kMostAicbNanos = 1'000'000'000'000;

/// The format, fields separated by blanks or tabs:
///   POLICY model_parallel_NPU_group: 8 ep: 1 pp: 2 ... pp_comm: 1048576
///   2
///   name dep forward_ns COLLECTIVE bytes input_ns COLLECTIVE bytes weight_ns COLLECTIVE bytes update_ns
///   ...
/// A group that the first line does not name is one rank; what else it names is not read, nor is `dep`: layers
/// run in their order. Collectives may end in _EP or _DP_EP (experts). `file` stands for the text in messages.
Result<AicbModel> parse_aicb(std::string_view text, const std::string& file);

}  // namespace matchrdma::sim
