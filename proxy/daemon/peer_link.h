#pragma once
// The session with the peer of one span, in the control thread.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "config/config.h"
#include "controlplane/channel/peer_session.h"

namespace matchrdma::daemon {

/// Random bytes of the system (getrandom).
class SystemEntropy final : public Entropy {
 public:
  void fill(MutableBytes out) override;
};

std::vector<Psk> key_ring(const PeerConfig& peer);

/// Duty: keeps the PeerSession going and says what its events mean for people. Does not know workers: what they
/// must be told goes through the hooks.
class PeerLink {
 public:
  struct Hooks {
    std::function<void(Bytes)> send;                                      ///< a datagram for the peer
    std::function<void(const SessionSnapshot&, bool peer_started)> keys;  ///< new keys for every worker
    std::function<void(const std::string&)> tell;                         ///< a sentence for the log
  };
  PeerLink(const std::string& span, const Offer& offer, Instant now, Hooks hooks);

  Result<void> set_keys(const PeerConfig& peer, Instant now);
  /// Whether set_keys() would take them.
  Result<void> check_keys(const PeerConfig& peer) const { return session_.check_keys(key_ring(peer)); }
  void hello(Bytes datagram, Instant now);
  void poll(Instant now);
  Instant next_wakeup() const { return session_.next_wakeup(); }
  void renew(Instant now) { session_.renew(now); }

  bool up() const { return session_.session().seal.has_value(); }
  /// The peer has confirmed the session within the last keep-alives, or within `patience` where that is longer
  /// (timing.peer_timeout). A dead peer leaves its keys behind.
  bool alive(Instant now, Duration patience) const {
    return up() && !heard_.is_never() && heard_ + Duration{std::max(kSilence.ns, patience.ns)} > now;
  }
  /// The newest confirmation.
  Instant heard() const { return heard_; }
  const PeerSession& session() const { return session_; }
  uint64_t sessions() const { return sessions_; }
  uint64_t restarts() const { return restarts_; }
  /// What is wrong with the HELLOs that come, none of which is believed: a version that is not ours, until
  /// there is a session, or what the last while has shown. Empty: none came. Means nothing while a session is
  /// alive, since strangers may send them.
  std::string refused(Instant now) const {
    return !trouble_.empty() ? trouble_ : now < refused_until_ ? refused_ : "";
  }
  uint8_t peer_version() const { return peer_version_; }

 private:
  static constexpr Duration kKeepAlive = Duration::millis(200);
  static constexpr Duration kSilence = kKeepAlive * 7 / 2;  ///< three keep-alives may be lost
  static constexpr Duration kRefusedFor = Duration::seconds(5);
  static constexpr Duration kTellEvery = Duration::seconds(2);
  void act(PeerOutput& out, Instant now);
  void tell_up(bool peer_started, Instant now);

  std::string span_;
  SystemEntropy entropy_;
  PeerSession session_;
  Hooks hooks_;
  Instant heard_ = Instant::never();
  uint64_t published_ = 0;  ///< number of the snapshot that the workers have
  uint64_t sessions_ = 0, restarts_ = 0;
  uint8_t peer_version_ = 0;
  std::string trouble_, refused_;
  Instant refused_until_{INT64_MIN};
  Instant quiet_until_{INT64_MIN};  ///< sessions that come up before it are counted only
  uint64_t untold_ = 0;
};

}  // namespace matchrdma::daemon
