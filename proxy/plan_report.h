#pragma once
// What `matchrdma plan` found: one transfer over one link, by each scheme.
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "host/planner/advice.h"
#include "host/planner/line.h"

namespace matchrdma {

/// What is asked: how this message should cross this link.
struct PlanQuestion {
  planner::Link link;
  uint64_t message = 0;  ///< bytes
  planner::Code code;
};

struct PlanRow {
  planner::Scheme scheme;
  planner::Cost cost;
  double p50 = 0, p99 = 0, p999 = 0;  ///< seconds
  /// Largest difference to messages played packet by packet, where they were.
  std::optional<double> difference;
};

/// Of a code and selective repeat.
struct PlanCrossover {
  planner::Scheme scheme;
  std::optional<planner::Crossover> where;
};

struct PlanAnswer {
  PlanQuestion question;
  double loss_free = 0;       ///< seconds
  std::vector<PlanRow> rows;  ///< selective repeat, the code, XOR unless that is the code, go-back-N
  size_t choice = 0;          ///< of the rows before go-back-N
  std::string reason;         ///< a sentence
  std::vector<PlanCrossover> crossovers;
  uint64_t played = 0;  ///< messages of each scheme
};

/// Go-back-N, the reference, comes last.
std::vector<planner::Scheme> plan_schemes(const planner::Code& code);
PlanAnswer answer(const PlanQuestion& q);

void print_plan(std::ostream& out, const PlanAnswer& a);
nlohmann::ordered_json plan_json(const PlanAnswer& a);

}  // namespace matchrdma
