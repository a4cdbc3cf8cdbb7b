#pragma once
// How a QP pair became known (PROTOCOL 3).
#include <cstdint>

namespace matchrdma {

enum class LearnedBy : uint8_t {
  kRegistration,
  kCm,
  kCorrelation,  ///< inferred: may turn out to be wrong
  kPeer,         ///< the far proxy opened it
};
/// Key in reports: "registration", "cm", "correlation", "peer".
const char* learned_by_key(LearnedBy l);

}  // namespace matchrdma
