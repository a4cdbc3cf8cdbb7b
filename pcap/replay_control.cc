#include "pcap/replay_control.h"

#include "dataplane/base/check.h"

namespace matchrdma {
namespace {

// Both proxies of a replay hold one key; nobody else is there.
Psk replay_key() {
  Psk k{KeyId{1}, {}};
  ReplayEntropy(1).fill(k.secret.writable());
  return k;
}

}  // namespace

void ReplayEntropy::fill(MutableBytes out) {
  for (uint8_t& b : out) b = static_cast<uint8_t>(prng_.next());
}

ReplayControl::ReplayControl(uint64_t seed, Instant now, Send send)
    : entropy_(seed), peer_(Offer{}, entropy_, now), send_(std::move(send)) {
  MRDMA_CHECK(peer_.set_keys({replay_key()}, now).ok());
}

void ReplayControl::act(PeerOutput& out) {
  for (const auto& d : out.datagrams) send_(Queue::kControl, d);
  channel_.update(peer_.session());
}

void ReplayControl::poll(Instant now) {
  if (peer_.next_wakeup() > now) return;
  PeerOutput out;
  peer_.poll(now, out);
  act(out);
  if (channel_.wants_new_session()) peer_.renew(now);
}

void ReplayControl::take(Bytes datagram, Instant now, std::vector<Message>& messages) {
  if (!is_hello(datagram)) {
    channel_.receive(datagram, messages);
    return;
  }
  PeerOutput out;
  peer_.receive(datagram, now, out);
  act(out);
}

}  // namespace matchrdma
