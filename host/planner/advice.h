#pragma once
// Which scheme to take, and from which size of message on another one is better.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "host/planner/line.h"

namespace matchrdma::planner {

/// Sizes of messages that are looked at: from one packet to this.
inline constexpr uint64_t kLargestMessage = uint64_t{64} << 30;

/// Where `code` has the lesser mean completion time than selective repeat (HOST, planner: crossover).
struct Crossover {
  uint64_t begins = 0;           ///< bytes: the smallest such message, to a packet
  std::optional<uint64_t> ends;  ///< bytes: the smallest message above all such; none: kLargestMessage still is
};
/// None where selective repeat is as good or better for all sizes. Looks at sizes a factor of two apart, then
/// between them, so an exception between two such sizes stays unseen.
std::optional<Crossover> crossover(const Link& link, const Code& code);

/// What is compared of a scheme.
struct Cost {
  double mean = 0;        ///< seconds
  double line_bytes = 0;  ///< payload on the line
};
/// The least mean; of those within 1 % of it the one with the fewest bytes on the line.
size_t best_of(const std::vector<Cost>& costs);

}  // namespace matchrdma::planner
