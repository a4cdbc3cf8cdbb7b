#pragma once
// The sessions that are alive, of which one is sealed under.
#include <optional>

#include "controlplane/channel/handshake.h"

namespace matchrdma {

/// Up to two pre-shared keys, oldest first.
using KeyRing = std::vector<Psk>;

/// Keeps the sessions of three pairs: the one agreed on last but not known to be held by the peer (pending),
/// the one in use (established), and the one before (previous), which only opens what is still in flight. Each
/// pair has one session per loaded key. Decides which session is sealed under: the newest key that the peer has
/// confirmed, and never one that was left before, since its counter would start again. Knows nothing of
/// datagrams.
class SessionSet {
 public:
  explicit SessionSet(const HandshakeTiming& timing) : timing_(timing) {}

  /// A new pair; the established one stays in use until establish().
  void add(const RandomPair& pair, const KeyRing& ring);
  /// The peer holds the pair added last; it is used from now on, if a key of it is confirmed. True when that is
  /// news.
  bool establish(Instant now);
  /// The peer has shown that it holds `key` and our number of the newest pair. True when that is news.
  bool confirm(KeyId key);
  /// The peer seals in the newest pair: the previous one has only its grace left.
  void peer_seals(Instant now);
  /// Keys were loaded or unloaded, `before` are those until now. True when the newest pair cannot go on: the
  /// peer may seal under what is gone, or a session would have to come back from the dead.
  bool reload(const KeyRing& before, const KeyRing& ring);
  void expire(Instant now);

  /// Key sealed under, if that is in the newest pair; 0 otherwise.
  KeyId seals_under_newest() const { return pending_ ? KeyId{} : sealing_; }
  Instant next_expiry() const { return previous_ ? previous_until_ : Instant::never(); }
  const SessionSnapshot& snapshot() const { return snapshot_; }

 private:
  struct Session {
    SessionKeys keys;
    bool confirmed = false;
    bool left = false;  ///< was sealed under before another one
  };
  struct Pair {
    RandomPair numbers;
    std::vector<Session> sessions;
    std::vector<KeyId> gone;  ///< keys that were unloaded: their replay windows are forgotten
  };
  Pair* newest();
  static bool reload(Pair& p, const KeyRing& ring);
  void choose();
  void publish();

  HandshakeTiming timing_;
  std::optional<Pair> pending_, established_, previous_;
  Instant previous_until_;
  KeyId sealing_;
  SessionSnapshot snapshot_;
};

}  // namespace matchrdma
