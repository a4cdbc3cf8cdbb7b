#pragma once
// The MADs of connection management by the layout of IBA 12.6 and the IP addressing annex A11 (not shared with
// the proxy: this is the oracle).
#include <cstdint>
#include <optional>

#include "dataplane/base/bytes.h"
#include "dataplane/wire/frame_builder.h"

namespace matchrdma::model {

enum class CmType : uint16_t { kReq = 0x0010, kRep = 0x0013, kRtu = 0x0014, kDreq = 0x0015, kDrep = 0x0016 };

/// Fields that a type lacks are ignored when it is written and 0 when it is read.
struct CmMessage {
  CmType type = CmType::kReq;
  uint64_t transaction = 0;
  uint32_t local_id = 0;   ///< communication id that the sender chose
  uint32_t remote_id = 0;  ///< that of its peer; not in a REQ
  Qpn qpn;                 ///< REQ, REP: the sender's queue pair; DREQ: the receiver's
  Psn start;  ///< REQ, REP: first PSN that queue pair expects from its peer (IBA 12.7, "Starting PSN")
  // REQ
  uint16_t service_port = 0;  ///< the TCP-like port that is listened at
  uint32_t path_mtu = 0;
  uint8_t response_timeout = 0;  ///< 4.096 us * 2^n until a MAD is sent again
  uint8_t ack_timeout = 0;       ///< 4.096 us * 2^n until a request is sent again
};

inline constexpr size_t kCmMadBytes = 256;

/// Zero bytes but for what `m` and the addresses of `path` say. `out` holds kCmMadBytes.
void write_cm(const CmMessage& m, const L2L3& path, MutableBytes out);
/// The message in a UD SEND_ONLY to QP 1; none when it is another datagram.
std::optional<CmMessage> read_cm(const Frame& f);

}  // namespace matchrdma::model
