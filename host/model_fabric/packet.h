#pragma once
// What crosses the model's wires.
#include <cstdint>
#include <vector>

namespace matchrdma::host {

/// One packet of a message, or an answer of an RC responder.
struct ModelPacket {
  enum class Kind : uint8_t { kRequest, kAck, kSequenceNak, kRnrNak, kAccessNak };
  enum class Op : uint8_t { kWrite, kWriteImm, kSend };
  Kind kind = Kind::kRequest;
  Op op = Op::kWrite;
  bool first = false, last = false;  ///< of its message; both: an ONLY packet (IBA 9.2.1)
  uint32_t to_qpn = 0, from_qpn = 0;
  int64_t psn = 0;       ///< unwrapped, counted from the sender's first one
  uint64_t session = 0;  ///< of the sender's queue pair: stands for its random first PSN
  uint64_t remote = 0;
  uint32_t rkey = 0, immediate = 0;
  std::vector<uint8_t> payload;
};

}  // namespace matchrdma::host
