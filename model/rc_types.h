#pragma once
// Words that requester and responder of the model share.
#include <cstdint>

#include "dataplane/base/types.h"
#include "dataplane/wire/frame_builder.h"

namespace matchrdma::model {

/// What both halves of one queue pair know about it.
struct QpIdentity {
  L2L3 path;  ///< headers of everything this QP sends
  Qpn local, remote;
  Psn send_start, receive_start;  ///< first PSN that we send, that we expect
  uint32_t path_mtu = 1024;
  uint16_t pkey = 0xffff;
  uint64_t content_key = 1, peer_content_key = 2;  ///< of the payloads that we send, that we receive
};

enum class WrType : uint8_t { kSend, kSendImm, kSendInv, kWrite, kWriteImm, kRead, kFetchAdd, kCmpSwap };

constexpr bool is_read_class(WrType t) {
  return t == WrType::kRead || t == WrType::kFetchAdd || t == WrType::kCmpSwap;
}
constexpr bool is_atomic(WrType t) { return t == WrType::kFetchAdd || t == WrType::kCmpSwap; }
constexpr bool is_write(WrType t) { return t == WrType::kWrite || t == WrType::kWriteImm; }
constexpr bool is_send(WrType t) { return t <= WrType::kSendInv; }
/// Takes a receive work request of the responder.
constexpr bool takes_receive(WrType t) { return is_send(t) || t == WrType::kWriteImm; }

struct WorkRequest {
  WrType type = WrType::kWrite;
  uint32_t length = 0;  ///< ignored for atomics
  uint64_t va = 0;
  uint32_t rkey = 0;
  uint32_t imm = 0;  ///< immediate data, or the key to invalidate
  uint64_t swap_add = 0, compare = 0;
};

/// How a work request ended (IBA 11.6.2).
enum class WcStatus : uint8_t {
  kPending,
  kSuccess,
  kFlushed,  ///< the QP failed at another request
  kRetryExceeded,
  kRnrRetryExceeded,
  kRemoteInvalidRequest,
  kRemoteAccess,
  kRemoteOperation,
};

/// What the requester would send at one PSN. Fields that the opcode lacks are 0.
struct RequestInfo {
  uint8_t opcode = 0;
  uint32_t payload_length = 0;
  uint64_t va = 0;
  uint32_t rkey = 0, dma_length = 0, imm = 0;
  uint64_t swap_add = 0, compare = 0;
  bool operator==(const RequestInfo&) const = default;
};

/// The ground truth that a responder's model is checked against.
class RequestTruth {
 public:
  virtual ~RequestTruth() = default;
  /// False when no posted request has this PSN.
  virtual bool describe(Seq seq, RequestInfo& out) const = 0;
};

}  // namespace matchrdma::model
