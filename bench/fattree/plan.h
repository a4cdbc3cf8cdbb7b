#pragma once
// What the fat-tree comparison runs: schemes, message sizes, loads and seeds.
#include <cstdint>
#include <string>
#include <vector>

#include "sim/fattree/comparison.h"

namespace matchrdma::fattree_bench {

struct Run {
  std::string sizes;   ///< name of the distribution
  std::string scheme;  ///< with what it varies
  bool main = true;    ///< one of the three that are compared; else a variation at one load
  sim::FatTreeCase what{};
};

struct Scope {
  bool quick = false;
  uint32_t seeds = 3;
};

inline constexpr const char* kStorage = "AliStorage2019";
inline constexpr const char* kSolar = "Solar2022";
inline constexpr double kHighest = 0.8;  ///< load of the paper's claims

/// The long ones first, so that no thread begins one when all others are done.
std::vector<Run> plan(const Scope& scope);

}  // namespace matchrdma::fattree_bench
