#pragma once
// What a transfer asks of whatever moves its messages: SDR, flowcell, channel.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/control/control_message.h"
#include "host/fabric/nic.h"

namespace matchrdma::host {

struct MessageSent {
  uint64_t message = 0;
  std::string error{};  ///< it was not sent: why
};
struct MessageReceived {
  uint64_t message = 0, length = 0, missing = 0;  ///< bytes
};

/// Of one end, for people. What a way of moving does not have is 0.
struct EndFigures {
  uint64_t packets = 0, resent = 0, rate_halved = 0;            ///< sent; of flowcell: cells
  uint64_t decoded = 0, duplicates = 0, stale = 0, rq_low = 0;  ///< received
  uint64_t arrived = 0;  ///< packets or cells received: it grows while a message comes
  Duration round_trip{};
};

/// Duty: one end that moves messages in order of their numbers, both ways. Time is an argument; what has to be
/// said to the peer goes over the caller's control connection.
class MessageEnd {
 public:
  virtual ~MessageEnd() = default;

  /// `data` stays until take_sent() names the message. Its number, counted from 0.
  virtual Result<uint64_t> send(Bytes data, uint32_t lkey) = 0;
  virtual std::optional<MessageSent> take_sent() = 0;
  virtual size_t sending() const = 0;
  /// The buffer of the next message; nothing: not now.
  virtual Result<std::optional<uint64_t>> receive_post(MutableBytes buffer, Instant now) = 0;
  virtual std::optional<MessageReceived> take_received() = 0;

  /// The peer's process has said HELLO, with this life.
  virtual void on_peer(uint64_t, Instant) {}
  virtual std::vector<ControlMessage> take_control() = 0;
  /// False: it is none of this end's.
  virtual bool on_control(const ControlMessage& m, Instant now) = 0;

  virtual size_t poll(Instant now) = 0;
  virtual Instant next_wakeup(Instant now) const = 0;
  /// Why what is under way cannot end; empty while it can.
  virtual std::string error() const = 0;
  virtual EndFigures figures() const = 0;
  /// What befell its paths since the last call: a sentence each.
  virtual std::vector<std::string> take_news() { return {}; }
  /// Queue pairs that were connected, and such that are fenced, since the last call: for a proxy.
  struct Flow {
    QpAddress local, remote;
    bool gone = false;
  };
  virtual std::vector<Flow> take_flows() { return {}; }
};

}  // namespace matchrdma::host
