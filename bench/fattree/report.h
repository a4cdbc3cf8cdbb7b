#pragma once
// What came out of the runs: means over seeds, tables, pictures and the paper's claims beside ours.
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/fattree/plan.h"
#include "proxy/evaluation.h"

namespace matchrdma::fattree_bench {

struct Outcome {
  Run run;
  sim::FatTreeResult result;
};

/// One scheme at one load, over its seeds.
struct Row {
  std::string sizes, scheme;
  bool main = true;
  double load = 0;
  size_t transfers = 0, unfinished = 0;                           ///< of all seeds
  Estimate mean_us{}, p99_us{}, mean_slowdown{}, p99_slowdown{};  ///< at the receiver
  Estimate sender_mean_slowdown{}, sender_p99_slowdown{};
};

/// By sizes, load and the order of the plan.
std::vector<Row> rows_of(const std::vector<Outcome>& outcomes);

void print(std::ostream& out, const std::vector<Row>& rows);
/// The ordering of the paper at the highest load: flowcell before LetFlow, and that not behind ECMP, in the
/// 99th percentile. Prints all factors beside the paper's.
bool print_claims(std::ostream& out, const std::vector<Row>& rows);

nlohmann::ordered_json json_of(const std::vector<Row>& rows, const std::vector<Outcome>& outcomes);

struct Picture {
  std::string file;  ///< name without folder
  std::string svg;
};
/// Mean and 99th percentile against load, as slowdown and in microseconds.
std::vector<Picture> pictures(const std::vector<Row>& rows);

}  // namespace matchrdma::fattree_bench
