#pragma once
// Sealing and opening of session datagrams: one Sealer and one Opener per session and worker.
#include "controlplane/channel/datagram.h"
#include "controlplane/channel/replay_window.h"
#include "controlplane/channel/session_keys.h"
#include "dataplane/base/result.h"

namespace matchrdma {

/// Seals payloads of one worker in one session. The nonce is a counter that lives and dies with the key, so it
/// never comes twice under one; make no second Sealer of the same session and worker. Knows nothing of
/// messages.
class Sealer {
 public:
  /// Datagrams under one key. 2^32 of at most 88 blocks leave an attacker an advantage below 2^-50 (SP 800-38D
  /// is content with 2^64 blocks); half of it is left for the peers to agree on a new session.
  static constexpr uint64_t kLimit = uint64_t{1} << 32;

  Sealer(const SessionKeys& session, uint16_t worker, uint64_t limit = kLimit);

  uint64_t tag() const { return header_.session_tag; }
  bool wants_new_session() const { return header_.counter >= limit_ / 2; }
  /// Bytes of the datagram in `out`, which has room for kMaxDatagramBytes. An error when the counter is used
  /// up.
  Result<size_t> seal(Queue queue, Bytes payload, MutableBytes out);

 private:
  Aead aead_;
  SessionHeader header_;
  uint64_t limit_;
};

enum class OpenVerdict : uint8_t { kOpened, kBadSeal, kReplayed };

/// Opens the datagrams of one worker of the peer in one session. Each queue has its own replay window over the
/// shared counter: a burst of control in its priority queue cannot push out what waits behind bulk packets.
class Opener {
 public:
  Opener(const SessionKeys& session, uint16_t worker);

  uint64_t tag() const { return tag_; }
  /// `header` is that of `datagram`. On kOpened `payload` is the part of `out` that was written.
  OpenVerdict open(const SessionHeader& header, Bytes datagram, MutableBytes out, Bytes& payload);

 private:
  Aead aead_;
  uint64_t tag_;
  std::array<ReplayWindow, kQueues> seen_;
};

}  // namespace matchrdma
