#pragma once
// The keys of one session (C11): of one pre-shared key and one pair of fresh random numbers.
#include <optional>
#include <vector>

#include "controlplane/channel/secret.h"

namespace matchrdma {

/// A pre-shared key under its number.
struct Psk {
  KeyId id;
  Secret secret;
};

/// One number drawn by each side, as seen from here. A number stands in one pair only, ever.
struct RandomPair {
  Nonce32 own, peer;
  bool operator==(const RandomPair&) const = default;
  RandomPair mirrored() const { return {peer, own}; }
};

/// Every key of a session, made on demand: per worker and direction. Knows nothing of counters or time.
class SessionKeys {
 public:
  /// The salt is the lower number, then the higher: both sides agree without a configured role that could be
  /// set wrong. The same order tells the directions apart, so `own` and `peer` must differ.
  SessionKeys(const Psk& psk, const RandomPair& pair);

  KeyId key_id() const { return key_id_; }
  /// Names the session on the wire; public.
  uint64_t tag() const { return tag_; }
  Secret sending(uint16_t worker) const { return key(worker, own_is_lower_); }
  Secret receiving(uint16_t worker) const { return key(worker, !own_is_lower_); }

 private:
  Secret key(uint16_t worker, bool from_lower) const;
  KeyId key_id_;
  bool own_is_lower_;
  uint64_t tag_;
  Secret prk_;
};

/// What workers seal and open with. Published whole; a later one has a higher number.
struct SessionSnapshot {
  uint64_t number = 0;
  std::optional<SessionKeys> seal;
  std::vector<SessionKeys> open;
};

}  // namespace matchrdma
