#include "controlplane/endpoint/sole_channel.h"

#include "dataplane/base/check.h"

namespace matchrdma {
namespace {

// Both proxies of a world hold one key; nobody else is there.
Psk shared_key() {
  Psk k{KeyId{1}, {}};
  SeededEntropy(1).fill(k.secret.writable());
  return k;
}

}  // namespace

void SeededEntropy::fill(MutableBytes out) {
  for (uint8_t& b : out) b = static_cast<uint8_t>(prng_.next());
}

SoleChannel::SoleChannel(uint64_t seed, Instant now, Send send)
    : entropy_(seed), peer_(Offer{}, entropy_, now), send_(std::move(send)) {
  MRDMA_CHECK(peer_.set_keys({shared_key()}, now).ok());
}

void SoleChannel::act(PeerOutput& out) {
  for (const auto& d : out.datagrams) send_(Queue::kControl, d);
  channel_.update(peer_.session());
}

void SoleChannel::poll(Instant now) {
  if (peer_.next_wakeup() > now) return;
  PeerOutput out;
  peer_.poll(now, out);
  act(out);
  if (channel_.wants_new_session()) peer_.renew(now);
}

void SoleChannel::take(Bytes datagram, Instant now, std::vector<Message>& messages) {
  if (!is_hello(datagram)) {
    channel_.receive(datagram, messages);
    return;
  }
  PeerOutput out;
  peer_.receive(datagram, now, out);
  act(out);
}

}  // namespace matchrdma
