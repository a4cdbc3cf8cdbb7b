#pragma once
// The control plane's end of the subchannel to one peer: keys, handshake, sessions.
#include "controlplane/channel/handshake.h"
#include "controlplane/channel/session_set.h"
#include "dataplane/base/result.h"

namespace matchrdma {

/// A session is up: datagrams are sealed under it from now on.
struct SessionUp {
  uint64_t tag = 0;
  /// The peer has started anew since the last session, or is seen for the first time. False: only keys changed.
  bool peer_started = false;
};
/// The peer has shown that it holds this key: it is used if it is the newest.
struct KeyConfirmed {
  KeyId key;
};
/// The peer holds one of our keys but speaks another version: no session until both run the same.
struct VersionRefused {
  uint8_t own = kChannelVersion, peer = 0;
};
using PeerEvent = std::variant<SessionUp, KeyConfirmed, VersionRefused>;

/// What a call wants done: owned by the caller, appended to.
struct PeerOutput {
  std::vector<std::vector<uint8_t>> datagrams;  ///< UDP payloads for the control queue
  std::vector<PeerEvent> events;
};

struct PeerCounters {
  uint64_t not_hello = 0;  ///< truncated, or no HELLO
  uint64_t unknown_key = 0, bad_seal = 0, malformed = 0, other_version = 0;
  uint64_t reflected = 0;   ///< our own HELLO, sent back
  uint64_t unproven = 0;    ///< authentic, but no proof that it is not recorded
  uint64_t unanswered = 0;  ///< above the rate of answers
  uint64_t agreed = 0, new_pairs = 0;
  bool operator==(const PeerCounters&) const = default;
};

/// At most so many in a while: bounds the work and the random nonces that recorded HELLOs can cost.
class AnswerLimit {
 public:
  bool take(Instant now) {
    if (now >= until_) {
      until_ = now + kWhile;
      left_ = kAnswers;
    }
    return left_ > 0 && left_-- > 0;
  }

 private:
  static constexpr int kAnswers = 16;
  static constexpr Duration kWhile = Duration::millis(100);
  Instant until_{INT64_MIN};
  int left_ = 0;
};

/// Keeps one session with one peer through restarts of either side and changes of keys. Costs per datagram: one
/// AES-GCM pass and one answer at most; keys are derived only for a peer that proved itself. Knows nothing of
/// sockets, clocks and messages; the workers' channels take their keys from session().
class PeerSession {
 public:
  PeerSession(const Offer& offer, Entropy& entropy, Instant now, const HandshakeTiming& timing = {});

  /// One key, or two while they are changed: oldest first. An id keeps its secret and its place as long as it
  /// is loaded. To change keys: load both on both sides, wait until each side's peer_seals_under() is the new
  /// one, unload the old one.
  Result<void> set_keys(std::vector<Psk> ring, Instant now);
  /// Whether set_keys() would take them.
  Result<void> check_keys(const std::vector<Psk>& ring) const;
  /// For datagrams whose kind is HELLO or HELLO_ACK (see is_hello).
  void receive(Bytes udp_payload, Instant now, PeerOutput& out);
  /// HELLOs that are due, old keys forgotten. Call at next_wakeup() at the latest.
  void poll(Instant now, PeerOutput& out);
  Instant next_wakeup() const;
  /// Asks the peer for a new session; the present one is used until it stands
  /// (WorkerChannel::wants_new_session).
  void renew(Instant now) { handshake_.renew(now); }

  const SessionSnapshot& session() const { return sessions_.snapshot(); }
  const Offer& peer_offer() const { return handshake_.peer_offer(); }
  /// 0 while the peer seals under nothing, as far as it told.
  KeyId peer_seals_under() const { return peer_seals_under_; }
  const PeerCounters& counters() const { return n_; }

 private:
  HelloSeal* seal_of(KeyId key);
  void heard(const Hello& h, HelloSeal& seal, Instant now, PeerOutput& out);
  void agreed(const Hello& h, KeyId key, Instant now, PeerOutput& out);
  void refused(uint8_t version, Instant now, PeerOutput& out);

  Entropy* entropy_;
  Handshake handshake_;
  SessionSet sessions_;
  KeyRing ring_;
  std::vector<HelloSeal> seals_;
  KeyId peer_seals_under_;
  uint64_t life_in_use_ = 0;
  bool was_up_ = false;
  AnswerLimit unproven_answers_, proven_answers_;
  uint8_t refused_version_ = kChannelVersion;
  Instant refused_until_{INT64_MIN};
  PeerCounters n_;
};

/// True for what PeerSession takes; everything else is a worker's.
bool is_hello(Bytes udp_payload);

}  // namespace matchrdma
