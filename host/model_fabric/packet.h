#pragma once
// What crosses the model's wires.
#include <cstdint>
#include <vector>

namespace matchrdma::host {

/// One packet of a message, or an answer of an RC responder.
struct ModelPacket {
  /// kAtomicAnswer: acknowledges, too; its payload is what stood there before.
  enum class Kind : uint8_t { kRequest, kAck, kSequenceNak, kRnrNak, kAccessNak, kAtomicAnswer };
  enum class Op : uint8_t { kWrite, kWriteImm, kSend, kAtomic };
  Kind kind = Kind::kRequest;
  Op op = Op::kWrite;
  bool reliable = false;
  bool first = false, last = false;  ///< of its message; both: an ONLY packet (IBA 9.2.1)
  uint32_t to_qpn = 0, from_qpn = 0;
  int64_t psn = 0;       ///< unwrapped, counted from the sender's first one
  uint64_t session = 0;  ///< of the requester's queue pair, in answers, too: stands for its random first PSN
  uint32_t path = 0;     ///< that its queue pair takes
  uint64_t remote = 0;
  uint32_t rkey = 0, immediate = 0;
  bool compares = false;  ///< kAtomic: compare and swap, else fetch and add
  uint64_t add_or_compare = 0, swap = 0;
  std::vector<uint8_t> payload;
};

}  // namespace matchrdma::host
