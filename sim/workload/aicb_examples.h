#pragma once
// Training iterations in AICB's format, from the figures of SIMULATOR 5 (A100).
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace matchrdma::sim {

/// A workload text with one block of layers over and over.
struct AicbExample {
  std::string_view name;
  std::string_view header;
  std::string_view once;  ///< layers in front: last in the way back, where gradients are complete
  std::string_view block;
  int repeats;
  int64_t
      scale;  ///< k: with it an iteration takes 20 to 40 ms in a ring of 32 ranks at 100 Gb/s, without distance

  std::string text() const {
    const auto lines = [](std::string_view t) { return std::count(t.begin(), t.end(), '\n'); };
    std::string all(header);
    all += std::to_string(lines(once) + repeats * lines(block)) + '\n';
    all += once;
    for (int i = 0; i < repeats; ++i) all += block;
    return all;
  }
};

/// Gradients have 4 bytes per parameter. That parameters, of 2 bytes each, are gathered again behind them is
/// ours.
inline constexpr AicbExample kAicbLlama7b{
    .name = "llama-7b",
    .header = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1\n",
    .once =
        "parameters -1 0 NONE 0 0 NONE 0 0 ALLGATHER 6750000000 0\n"
        "gradients -1 0 NONE 0 0 NONE 0 0 REDUCESCATTER 13500000000 0\n",
    .block =
        "attention -1 539986 ALLREDUCE 16800000 592000 ALLREDUCE 16800000 0 NONE 0 0\n"
        "mlp -1 486330 ALLREDUCE 16800000 529500 ALLREDUCE 16800000 0 NONE 0 0\n",
    .repeats = 32,
    .scale = 64};

/// The way back takes 1.09 of the way there, as LLaMA's does; an eighth of 13 G parameters as there: ours.
inline constexpr AicbExample kAicbGpt13b{
    .name = "gpt-13b",
    .header = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1\n",
    .once =
        "parameters -1 0 NONE 0 0 NONE 0 0 ALLGATHER 3250000000 0\n"
        "gradients -1 0 NONE 0 0 NONE 0 0 REDUCESCATTER 6500000000 0\n",
    .block =
        "attention -1 752000 ALLREDUCE 21000000 820000 ALLREDUCE 21000000 0 NONE 0 0\n"
        "mlp -1 750000 ALLREDUCE 21000000 818000 ALLREDUCE 21000000 0 NONE 0 0\n",
    .repeats = 40,
    .scale = 32};

/// Parameters are gathered for each layer, there and back, and gradients scattered: 300 KB between 5 and 20 ms
/// of computing. How many layers there are is ours.
inline constexpr AicbExample kAicbZero3{
    .name = "zero-3",
    .header = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 1 ep: 1 pp: 1\n",
    .once = "",
    .block = "block -1 5000000 ALLGATHER 300000 10000000 ALLGATHER 300000 20000000 REDUCESCATTER 300000 0\n",
    .repeats = 12,
    .scale = 16};

inline constexpr AicbExample kAicbExamples[]{kAicbLlama7b, kAicbGpt13b, kAicbZero3};

}  // namespace matchrdma::sim
