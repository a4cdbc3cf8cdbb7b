#pragma once
// Connection management MADs on QP 1 (IBA 12.6): what they tell about the queue pairs they connect.
#include <cstdint>
#include <optional>

#include "dataplane/wire/frame.h"

namespace matchrdma {

struct CmMad {
  static constexpr uint16_t kReq = 0x0010, kMra = 0x0011, kRej = 0x0012, kRep = 0x0013, kRtu = 0x0014,
                            kDreq = 0x0015, kDrep = 0x0016;
  uint16_t attribute = 0;
  uint32_t local_id = 0;   ///< communication id of the sender of this MAD
  uint32_t remote_id = 0;  ///< that of its peer; not in a REQ
  Qpn qpn;                 ///< REQ, REP: the sender's queue pair. DREQ: the receiver's
  Psn starting_psn;        ///< REQ, REP: first PSN it expects, which its peer sends (IBA 12.7, "Starting PSN")
  uint32_t path_mtu = 0;   ///< REQ, bytes; 0: not one of 256 to 4096
  bool reliable_connected = false;  ///< REQ: transport service type RC
  bool flow_control = false;        ///< REQ, REP: end-to-end credits in use
  uint8_t retry_count = 0;          ///< REQ
  uint8_t rnr_retry_count = 0;      ///< REQ, REP; 7: unlimited
  uint8_t ack_timeout = 0;          ///< REQ: local ACK timeout, 4.096 us x 2^n; 0: none

  bool opens() const { return attribute == kReq || attribute == kRep; }
  /// Sent because of a MAD of the peer.
  bool answers() const { return attribute != kReq && attribute != kDreq; }
};

/// The MAD in a UD SEND_ONLY to QP 1, if it is one of connection management.
std::optional<CmMad> parse_cm_mad(const Frame& f);

}  // namespace matchrdma
