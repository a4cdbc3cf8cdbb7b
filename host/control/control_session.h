#pragma once
// One conversation of two library ends, as bytes in and bytes out. No socket, no clock, no key.
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/base/result.h"
#include "dataplane/base/time.h"
#include "host/control/control_codec.h"

namespace matchrdma::host {

struct SessionTimes {
  Duration hello = Duration::seconds(5);     ///< the peer's HELLO has to be there
  Duration ping = Duration::seconds(1);      ///< what is said at the least, so that silence means something
  Duration silence = Duration::seconds(10);  ///< without a whole message the peer counts as dead
  Duration bye = Duration::seconds(1);       ///< the other end may take to close when we have said good-bye
};

struct SessionCounters {
  uint64_t messages = 0;      ///< received
  uint64_t unknown_type = 0;  ///< skipped by length: a younger release of the same version
};

/// Duty: greets, frames, answers PINGs, notices a peer that is dead or talks nonsense. What the peer says
/// beyond that is handed on by next(). Does not know what paths and fences are.
class ControlSession {
 public:
  /// kEnding: what is queued still leaves, until the other end closes too; kOver: nothing comes or goes any
  /// more.
  enum class State : uint8_t { kGreeting, kOpen, kEnding, kOver };
  static constexpr size_t kInboxLimit = 1024;       ///< messages; a reader that sleeps holds the peer up
  static constexpr size_t kOutputLimit = 1u << 20;  ///< bytes

  ControlSession(const ControlHello& ours, const SessionTimes& times, Instant now);

  /// Not while wants_input() is false, but for kEnding. Never more than the caller's own buffer at a time:
  /// limits are looked at between two calls.
  void receive(Bytes bytes, Instant now);
  bool wants_input() const;
  void advance(Instant now);
  Instant next_wakeup() const;

  /// What is to be sent next; sent() says how much of it has left.
  Bytes output() const { return Bytes(output_).subspan(sent_); }
  void sent(size_t bytes);

  /// False, and nothing is queued: not open, the queue is full, or the message breaks its layout.
  bool send(const ControlMessage& m, Instant now);
  /// The next message of the peer that is not the session's own business; in order. Also after the end.
  std::optional<ControlMessage> next();

  /// A BYE is queued; the peer is told `reason`.
  void end(const std::string& reason, Instant now);
  /// The connection broke; nothing can be said any more.
  void lost(const std::string& reason);

  State state() const { return state_; }
  const ControlHello& ours() const { return ours_; }
  /// Only from kOpen on.
  const ControlHello& peer() const { return peer_; }
  /// Why it ended; empty before.
  const std::string& reason() const { return reason_; }
  /// It ended because one of both wanted it, not by a fault.
  bool orderly() const { return orderly_; }
  /// The shortest time that an answer took; nothing before the first.
  std::optional<Duration> round_trip() const { return round_trip_; }
  const SessionCounters& counters() const { return n_; }

 private:
  void queue(const ControlMessage& m, Instant now);
  void take(ControlMessage m, Instant now);
  void greet(ControlHello hello, Instant now);
  void fault(const std::string& what, Instant now);
  void say_bye(bool is_fault, const std::string& reason, Instant now);
  void over(const std::string& reason, bool orderly);

  ControlHello ours_, peer_;
  SessionTimes times_;
  State state_ = State::kGreeting;
  std::vector<uint8_t> input_, output_;
  size_t sent_ = 0;
  std::deque<ControlMessage> inbox_;
  Instant greeting_ends_, heard_, spoke_, asked_{}, bye_ends_ = Instant::never();
  uint64_t pings_ = 0;
  std::optional<Duration> round_trip_;
  std::string reason_;
  bool orderly_ = false;
  bool deaf_ = false;  ///< after a fault of the peer nothing it says is read
  SessionCounters n_;
};

}  // namespace matchrdma::host
