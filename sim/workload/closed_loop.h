#pragma once
// Workload W1 (SIMULATOR 5): each pair keeps C messages of S bytes outstanding.
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/workload/workload.h"

namespace matchrdma::sim {

struct ClosedLoopSettings {
  int64_t message_bytes = 4096;  ///< S
  uint32_t outstanding = 1;      ///< C, of each flow
  uint64_t messages = 0;         ///< of each flow; 0: no end
};

/// Duty: posts the next message when one completes at its sender. One message per QP, as the forks have it, is
/// `outstanding = messages = 1` on many pairs.
class ClosedLoop final : public Workload {
 public:
  /// pairs: source and destination hosts, a QP each.
  ClosedLoop(Network& network, const ClosedLoopSettings& settings,
             std::vector<std::pair<uint32_t, uint32_t>> pairs)
      : Workload(network), s_(settings), pairs_(std::move(pairs)) {}

  void open(const Open& open) override {
    for (const auto& [source, destination] : pairs_) add(open(source, destination));
    left_.assign(flows(), s_.messages);
  }
  void start() override {
    for (uint32_t f = 0; f < flows(); ++f)
      for (uint32_t i = 0; i < s_.outstanding; ++i) post_next(f);
  }
  bool done() const override { return s_.messages != 0 && outstanding() == 0; }

 private:
  void post_next(uint32_t f) {
    if (s_.messages != 0 && left_[f]-- == 0) {
      left_[f] = 0;
      return;
    }
    post(f, s_.message_bytes);
  }
  void message_acknowledged(size_t m, SimTime) override { post_next(messages()[m].flow); }
  void message_delivered(size_t, SimTime) override {}

  ClosedLoopSettings s_;
  std::vector<std::pair<uint32_t, uint32_t>> pairs_;
  std::vector<uint64_t> left_;  ///< to be posted, by flow, where there is an end
};

}  // namespace matchrdma::sim
