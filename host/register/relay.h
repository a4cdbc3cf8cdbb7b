#pragma once
// Registration for a peer that cannot reach this end's proxy, and the other way round (HOST.md C13).
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "host/control/control_session.h"
#include "host/register/proxy_client.h"

namespace matchrdma::host {

/// What the peer says of a pair that it was asked to have (un)registered. More than one where that changes.
struct RelayOutcome {
  uint32_t request = 0;
  bool done = false;
  std::string why{};  ///< where it is not
};

/// Duty: both halves of the relay over one session: does at our proxy what the peer asks for, and asks it. The
/// session's reader hands over what take() takes. Does not read the session, nor drive the ProxyClient.
class RegisterRelay {
 public:
  static constexpr size_t kMostPairs = 4096;  ///< that one peer may have registered here

  /// `ours`: nullptr where this end has no proxy, or may not register for others.
  explicit RegisterRelay(ProxyClient* ours) : ours_(ours) {}
  ~RegisterRelay() { peer_gone(); }
  RegisterRelay(const RegisterRelay&) = delete;

  /// False: the message is not of this room.
  bool take(const ControlMessage& m, Instant now);
  /// Has the peer register `pair`, or unregister it, at its proxy. Ends as this end sees them. Returns the
  /// number that its outcomes bear.
  uint32_t ask(const ProxiedPair& pair, bool remove);
  std::optional<RelayOutcome> next();
  /// Says what is to be said, as far as the session takes it. After the ProxyClient's run().
  void run(ControlSession& session, Instant now);
  /// What it had registered here is renewed no longer, so its leases end; what it was asked and has not
  /// answered has come to nothing.
  void peer_gone();

 private:
  void serve(const RelayRegister& m, Instant now);

  ProxyClient* ours_;
  std::vector<ProxiedPair> served_;
  /// Answers and questions that have not left. Shared with what the ProxyClient calls, which may outlive this.
  std::shared_ptr<std::deque<ControlMessage>> out_ = std::make_shared<std::deque<ControlMessage>>();
  std::map<uint32_t, bool> asked_;  ///< whether it was answered
  std::deque<RelayOutcome> outcomes_;
  uint32_t next_request_ = 0;
};

}  // namespace matchrdma::host
