#pragma once
// One queue pair of the model. Inside host/model_fabric only.
#include <deque>

#include "host/model_fabric/model_nic.h"

namespace matchrdma::host {

struct ModelNic::Qp {
  enum class State : uint8_t { kReset, kReady, kError };
  /// A posted request and the packets it takes.
  struct Posted {
    SendRequest request;
    int64_t first_psn = 0, packets = 0;
  };

  QpHandle handle;
  uint32_t qpn = 0, psn = 0;
  QpOptions options;
  ConnectOptions connection;
  State state = State::kReset;
  QpAddress peer;

  // Requester. PSNs count from 0.
  std::deque<Posted> posted;  ///< UC, UD: not sent whole; RC: not acknowledged
  int64_t psn_made = 0;       ///< behind the last posted packet
  int64_t psn_next = 0;       ///< to send next
  int64_t psn_sent = 0;       ///< RC: behind the last that was ever sent
  int64_t psn_acked = 0;      ///< RC
  uint32_t retries_left = 0;
  Instant rnr_until;
  uint64_t timer = 0;  ///< version: older timers are void

  // Responder.
  std::deque<ReceiveRequest> receives;
  int64_t expected = 0;
  bool in_message = false;  ///< UC: the packets of this message came without a hole so far
  bool nak_sent = false;    ///< RC
  uint32_t received = 0;    ///< bytes of the message
  std::map<int64_t, std::vector<uint8_t>> atomic_answers;  ///< by PSN, to be said again (IBA 9.7.5.1.5)

  bool unreliable() const { return options.transport != Transport::kRc; }
};

}  // namespace matchrdma::host
