#include "controlplane/channel/seal.h"

namespace matchrdma {
namespace {

/// 96 bits: each worker and direction has a key of its own, so the counter alone makes it unique (C11).
Aead::Nonce nonce_of(uint64_t counter) {
  Aead::Nonce n{};
  store_be32(n.data() + 4, static_cast<uint32_t>(counter >> 32));
  store_be32(n.data() + 8, static_cast<uint32_t>(counter));
  return n;
}

}  // namespace

Sealer::Sealer(const SessionKeys& session, uint16_t worker, uint64_t limit)
    : aead_(session.sending(worker)),
      header_{Queue::kControl, worker, session.key_id(), session.tag(), 0},
      limit_(limit) {}

Result<size_t> Sealer::seal(Queue queue, Bytes payload, MutableBytes out) {
  MRDMA_CHECK(payload.size() <= kMaxPayloadBytes);
  if (header_.counter >= limit_) {
    return Error{"the counter of this session is used up: ask the peer for a new session (PeerSession::renew)"};
  }
  const size_t size = SessionHeader::kBytes + payload.size() + Aead::kTagBytes;
  header_.queue = queue;
  header_.write(out);
  aead_.seal(nonce_of(header_.counter), out.first(SessionHeader::kBytes), payload,
             out.subspan(SessionHeader::kBytes, size - SessionHeader::kBytes));
  ++header_.counter;
  return size;
}

Opener::Opener(const SessionKeys& session, uint16_t worker)
    : aead_(session.receiving(worker)), tag_(session.tag()) {}

OpenVerdict Opener::open(const SessionHeader& header, Bytes datagram, MutableBytes out, Bytes& payload) {
  const Bytes sealed = datagram.subspan(SessionHeader::kBytes);
  const MutableBytes plain = out.first(sealed.size() - Aead::kTagBytes);
  if (!aead_.open(nonce_of(header.counter), datagram.first(SessionHeader::kBytes), sealed, plain)) {
    return OpenVerdict::kBadSeal;
  }
  if (!seen_[static_cast<size_t>(header.queue)].take(header.counter)) return OpenVerdict::kReplayed;
  payload = plain;
  return OpenVerdict::kOpened;
}

}  // namespace matchrdma
