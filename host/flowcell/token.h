#pragma once
// What the two ends of a path write into each other's memory: tokens and, before the cells of a message, what
// the message is.
#include <cstdint>
#include <optional>

#include "dataplane/base/bytes.h"
#include "dataplane/base/time.h"

namespace matchrdma::host {

/// Receiver to sender: so many tails of this path have come. A later token says all that an earlier one said.
struct CellToken {
  uint32_t number = 0;  ///< counts the tokens of the path's epoch
  uint32_t tails = 0;   ///< polled in the epoch so far
  Duration residence;   ///< since the newest of them was polled; below 4.29 s
  bool operator==(const CellToken&) const = default;
};
inline constexpr size_t kTokenBytes = 16;
void encode_token(const CellToken& t, uint32_t epoch, MutableBytes out);
/// Nothing: the place holds a token that is torn, of another epoch, or none.
std::optional<CellToken> decode_token(Bytes in, uint32_t epoch);

/// Sender to receiver, written ahead of a message's first cell on each path: RC keeps the order, so whoever has
/// polled a tail can read it.
struct CellPlan {
  uint64_t message = 0, length = 0;  ///< bytes
  uint32_t cell_bytes = 0;
  bool operator==(const CellPlan&) const = default;
};
inline constexpr size_t kPlanBytes = 24;
void encode_plan(const CellPlan& p, MutableBytes out);
CellPlan decode_plan(Bytes in);

/// Cells of a message.
inline uint64_t cells_of(uint64_t length, uint64_t cell_bytes) {
  return (length + cell_bytes - 1) / cell_bytes;
}

}  // namespace matchrdma::host
