#include "controlplane/channel/handshake.h"

#include <algorithm>

namespace matchrdma {

Handshake::Handshake(const HandshakeTiming& timing, const Offer& offer, Entropy& entropy, Instant now)
    : timing_(timing), offer_(offer), entropy_(&entropy), due_(now), interval_(timing.first) {
  std::array<uint8_t, 8> life;
  entropy.fill(life);
  life_ = load_be64(life.data());
  fresh_ = entropy.nonce32();
}

Handshake::Heard Handshake::hear(const Hello& h, Instant now) {
  // The key of HELLOs has no direction, so our own come back with a right seal. Nobody else draws our number.
  if (h.life == life_ || h.fresh == fresh_) return Heard::kReflected;
  if (pair_ && h.pair == pair_->mirrored()) {
    mutual_ = true;
    peer_offer_ = h.offer;
    if (renewing_ && h.echo == fresh_) return take({fresh_, h.fresh}, false, h, now);
    return Heard::kAgreed;
  }
  // Both prove that its sender lives and has heard us: `fresh_` was never told before the present pair was
  // made.
  if (h.pair.peer == fresh_) return take({fresh_, h.pair.own}, true, h, now);
  if (h.echo == fresh_) return take({fresh_, h.fresh}, false, h, now);
  return Heard::kUnproven;
}

Handshake::Heard Handshake::take(const RandomPair& pair, bool mutual, const Hello& h, Instant now) {
  pair_ = pair;
  mutual_ = mutual;
  renewing_ = false;
  peer_life_ = h.life;
  peer_offer_ = h.offer;
  fresh_ = entropy_->nonce32();
  say_now(now);
  return Heard::kNewPair;
}

void Handshake::renew(Instant now) {
  if (renewing_ || !pair_) return;
  renewing_ = true;
  fresh_ = entropy_->nonce32();  // answers recorded until now are no answer to this
  say_now(now);
}

Hello Handshake::hello(KeyId seals_under) const {
  Hello h;
  h.fresh = fresh_;
  if (pair_) {
    h.pair = *pair_;
    h.seals_under = seals_under;
  }
  h.life = life_;
  h.offer = offer_;
  return h;
}

Hello Handshake::answer(const Hello& to, KeyId seals_under) const {
  Hello h = hello(seals_under);
  h.ack = true;
  h.echo = to.fresh;
  return h;
}

void Handshake::said(Instant now) {
  const bool settled = mutual_ && !renewing_;
  due_ = now + (settled ? timing_.keep_alive : interval_);
  interval_ = settled ? timing_.first : std::min(interval_ * 2, timing_.bound);
}

void Handshake::say_now(Instant now) {
  due_ = earlier(due_, now);
  interval_ = timing_.first;
}

}  // namespace matchrdma
