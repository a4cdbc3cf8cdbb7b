#pragma once
// Agreeing with the peer on a pair of random numbers (C11).
//
//     A: HELLO(fresh a)  ->  B: HELLO_ACK(fresh b, echo a)  ->  A holds (a, b)
//     A: HELLO(fresh a2, pair a,b)  ->  B, whose fresh b is echoed in the pair, holds (b, a)  ->  answers with
//     it
//
// A number is offered until it stands in one pair and never again. So whatever was recorded earlier names
// numbers that are used up and changes nothing, and no key ever comes twice. Two sides that hold different
// pairs (one restarted, a late datagram was believed) agree anew within one round trip, whoever speaks first.
#include <optional>

#include "controlplane/channel/hello.h"
#include "dataplane/base/time.h"

namespace matchrdma {

struct HandshakeTiming {
  Duration first = Duration::millis(10);         ///< until the first repetition; doubled each time
  Duration bound = Duration::seconds(1);         ///< repetitions come no slower
  Duration keep_alive = Duration::seconds(1);    ///< once both hold the pair
  Duration grace = Duration::seconds(1);         ///< old keys open datagrams after the peer left them
  Duration grace_bound = Duration::seconds(30);  ///< the same where nobody tells that the peer left them
};

/// Decides what an authentic HELLO means. Nothing changes before the peer has echoed a number of ours that was
/// still fresh. Knows nothing of keys and seals.
class Handshake {
 public:
  Handshake(const HandshakeTiming& timing, const Offer& offer, Entropy& entropy, Instant now);

  enum class Heard : uint8_t {
    kReflected,  ///< our own, sent back
    kUnproven,   ///< authentic, but perhaps recorded: no number of ours in it that counts
    kAgreed,     ///< its sender holds the pair we hold
    kNewPair,    ///< we now hold a new pair
  };
  Heard hear(const Hello& h, Instant now);

  /// The pair held, and whether the peer is known to hold it too.
  const std::optional<RandomPair>& pair() const { return pair_; }
  bool mutual() const { return mutual_; }
  uint64_t peer_life() const { return peer_life_; }
  const Offer& peer_offer() const { return peer_offer_; }

  /// Asks for a new pair while the present one is used on.
  void renew(Instant now);
  /// What to say now: a HELLO, or the answer to one.
  Hello hello(KeyId seals_under) const;
  Hello answer(const Hello& to, KeyId seals_under) const;

  Instant due() const { return due_; }
  /// A HELLO was sent at `now`: sets when the next is due.
  void said(Instant now);
  /// There is news for the peer (a new pair, a new key): the next HELLO is due at once.
  void say_now(Instant now);

 private:
  Heard take(const RandomPair& pair, bool mutual, const Hello& h, Instant now);

  HandshakeTiming timing_;
  Offer offer_, peer_offer_;
  Entropy* entropy_;
  uint64_t life_, peer_life_ = 0;
  Nonce32 fresh_;
  std::optional<RandomPair> pair_;
  bool mutual_ = false;
  bool renewing_ = false;
  Instant due_;
  Duration interval_;
};

}  // namespace matchrdma
