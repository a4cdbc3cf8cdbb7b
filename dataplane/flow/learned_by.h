#pragma once
// How a QP pair became known (PROTOCOL 3).
#include <cstdint>

namespace matchrdma {

enum class LearnedBy : uint8_t {
  kRegistration,
  kCm,
  kCorrelation,  ///< inferred: may turn out to be wrong
  kPeer,         ///< the far proxy opened it
  kJournal,      ///< a promise of this proxy's last life (H13)
};
/// Key in reports: "registration", "cm", "correlation", "peer", "journal".
const char* learned_by_key(LearnedBy l);

}  // namespace matchrdma
