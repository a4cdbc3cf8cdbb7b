#pragma once
// What the network must never do to a NIC. A model that sees one of these records it; a test fails on any.
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/base/time.h"
#include "dataplane/base/types.h"

namespace matchrdma::model {

// clang-format off
#define MATCHRDMA_VIOLATIONS(X)                                                                                 \
  /* seen by the requester */                                                                                   \
  X(kAckNeverSent,       "ACK for a PSN that was never sent")                                                   \
  X(kNakNeverSent,       "NAK for a PSN that was never sent")                                                   \
  X(kAckInsideRead,      "ACK inside the PSN range of an unanswered READ")                                      \
  X(kNakInsideRead,      "NAK inside the PSN range of an unanswered READ")                                      \
  X(kReservedSyndrome,   "reserved AETH syndrome")                                                              \
  X(kMsnAhead,           "MSN counts messages that were not sent")                                              \
  X(kMsnBehind,          "MSN does not count messages that the same packet acknowledges")                       \
  X(kMsnDecreased,       "MSN smaller than on an earlier, lower PSN")                                           \
  X(kResponseNeverAsked, "READ response or atomic ACK at a PSN that asked for none")                            \
  X(kResponseOpcode,     "response opcode does not fit its place in the message")                               \
  X(kResponseLength,     "response payload has the wrong length")                                               \
  X(kReadData,           "READ returned bytes that memory never held")                                          \
  X(kAtomicValue,        "atomic returned another value than exactly-once execution gives")                     \
  /* seen by the responder */                                                                                   \
  X(kRequestNeverSent,   "request at a PSN that the requester never used")                                      \
  X(kHeaderDiffers,      "request headers differ from what the requester sent")                                 \
  X(kPayloadDiffers,     "request payload differs from what the requester sent")                                \
  X(kOpcodeSequence,     "request opcode does not follow its predecessor")                                      \
  X(kReadSplit,          "duplicate READ reaches past the next expected PSN")                                   \
  X(kMemoryDiffers,      "memory at rest is not what the completed requests make it")
// clang-format on

enum class ViolationKind : uint8_t {
#define MATCHRDMA_X(id, text) id,
  MATCHRDMA_VIOLATIONS(MATCHRDMA_X)
#undef MATCHRDMA_X
      kCount
};

inline constexpr std::array<const char*, static_cast<size_t>(ViolationKind::kCount)> kViolationTexts = {
#define MATCHRDMA_X(id, text) text,
    MATCHRDMA_VIOLATIONS(MATCHRDMA_X)
#undef MATCHRDMA_X
};

struct Violation {
  ViolationKind kind{};
  Seq seq = 0;  ///< unwrapped PSN it was seen at
  Instant at{};
  const char* text() const { return kViolationTexts[static_cast<size_t>(kind)]; }
};

/// Keeps the first ones whole and counts the rest.
class ViolationLog {
 public:
  void add(ViolationKind kind, Seq seq, Instant at) {
    ++count_;
    if (first_.size() < kKept) first_.push_back({kind, seq, at});
  }
  bool empty() const { return count_ == 0; }
  uint64_t count() const { return count_; }
  const std::vector<Violation>& first() const { return first_; }

 private:
  static constexpr size_t kKept = 16;
  std::vector<Violation> first_;
  uint64_t count_ = 0;
};

}  // namespace matchrdma::model
