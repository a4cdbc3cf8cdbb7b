#pragma once
// HELLO and HELLO_ACK (C11): what they say and how they are sealed.
#include <variant>

#include "controlplane/channel/datagram.h"
#include "controlplane/channel/session_keys.h"

namespace matchrdma {

/// What a proxy is and can hold, for the peer to know.
struct Offer {
  uint64_t capabilities = 0;  ///< bits that both must set to use what they stand for
  uint16_t workers = 1;
  uint32_t max_flows = 0;
  bool operator==(const Offer&) const = default;
};

struct Hello {
  bool ack = false;
  Nonce32 fresh;      ///< drawn for the next session; in no session yet
  Nonce32 echo;       ///< HELLO_ACK: `fresh` of the HELLO it answers; otherwise none
  RandomPair pair;    ///< of the session its sender holds, as seen from there; none, none without one
  KeyId seals_under;  ///< key under which its sender seals in that session; 0: not yet
  uint64_t life = 0;  ///< drawn once per start, so that a new session is told from a restart
  Offer offer;
  bool operator==(const Hello&) const = default;
};

/// A datagram of a peer that speaks another version: its seal is right, its contents are not read.
struct OtherVersion {
  uint8_t version = 0;
};
enum class HelloFault : uint8_t { kBadSeal, kMalformed };
using OpenedHello = std::variant<Hello, OtherVersion, HelloFault>;

/// Seals and opens HELLOs under the key HKDF(PSK, "hello", key id), which both sides share. Knows nothing of
/// sessions. Nonces are random: at the rate of the handshake 2^32 of them take decades.
class HelloSeal {
 public:
  explicit HelloSeal(const Psk& psk);
  KeyId key() const { return key_; }

  std::vector<uint8_t> seal(const Hello& hello, Entropy& entropy);
  /// Any header and body under a right seal: what another version, or a peer gone wrong, could send.
  std::vector<uint8_t> seal_body(const HelloHeader& header, Bytes body);
  /// One AES-GCM pass at most. `header` is that of `datagram` and names this key.
  OpenedHello open(const HelloHeader& header, Bytes datagram);

 private:
  KeyId key_;
  Aead aead_;
};

}  // namespace matchrdma
