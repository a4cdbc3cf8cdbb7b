#pragma once
// One run of the fat-tree comparison: a scheme under a load.
#include <cstdint>
#include <functional>
#include <span>

#include "sim/fattree/all_to_all.h"
#include "sim/fattree/fat_tree.h"
#include "sim/fattree/flowcell_load.h"
#include "sim/workload/fct.h"

namespace matchrdma::sim {

enum class Balancing : uint8_t { kEcmp, kLetFlow, kFlowcell };
inline constexpr Balancing kBalancings[]{Balancing::kEcmp, Balancing::kLetFlow, Balancing::kFlowcell};
const char* balancing_name(Balancing b);

struct FatTreeCase {
  Balancing scheme = Balancing::kEcmp;
  std::span<const SizeKnot> sizes = kAliStorage2019;
  double load = 0.8;
  uint64_t seed = 1;
  SimSpan duration = SimSpan::micros(5'000);  ///< of the arrivals
  SimSpan warm_up = SimSpan::micros(1'000);   ///< of them; transfers posted in it do not count
  SimSpan drain = SimSpan::micros(200'000);   ///< after them at most
  FatTreeSettings tree{};
  SimSpan flowlet_gap = SimSpan::micros(100);
  FlowcellSettings flowcell{};
  SenderSettings sender = fat_tree_sender();
  ReceiverSettings receiver = fat_tree_receiver();

  static SenderSettings fat_tree_sender();
  static ReceiverSettings fat_tree_receiver();
};

struct FatTreeResult {
  Fct all, small, large;  ///< transfers, those up to kSmallBytes, and the others
  uint64_t drops = 0, lost = 0, pauses = 0, marks = 0, events = 0, suspected = 0;
  int64_t sent_again = 0;  ///< payload bytes
};
inline constexpr int64_t kSmallBytes = 64'000;

/// How many there will be, on the average of seeds.
double expected_transfers(const FatTreeCase& c);
/// progress: after each step of virtual time, how many transfers have begun.
FatTreeResult run_fat_tree(const FatTreeCase& c, const std::function<void(size_t)>& progress = {});

}  // namespace matchrdma::sim
