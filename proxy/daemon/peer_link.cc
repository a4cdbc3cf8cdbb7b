#include "proxy/daemon/peer_link.h"

#include <sys/random.h>

#include <algorithm>
#include <utility>

#include "dataplane/base/check.h"

namespace matchrdma::daemon {

void SystemEntropy::fill(MutableBytes out) {
  // Up to 256 bytes come whole or not at all (getrandom(2)); a system without randomness must not seal.
  for (size_t at = 0; at < out.size(); at += 256) {
    const size_t n = std::min<size_t>(256, out.size() - at);
    MRDMA_CHECK(getrandom(out.data() + at, n, 0) == static_cast<ssize_t>(n));
  }
}

std::vector<Psk> key_ring(const PeerConfig& peer) {
  std::vector<Psk> ring;
  for (const PeerKey& k : peer.keys) {
    Psk p{KeyId{k.id}, {}};
    std::copy(k.secret.b.begin(), k.secret.b.end(), p.secret.writable().begin());
    ring.push_back(p);
  }
  return ring;
}

PeerLink::PeerLink(const std::string& span, const Offer& offer, Instant now, Hooks hooks)
    : span_(span), session_(offer, entropy_, now, {.keep_alive = kKeepAlive}), hooks_(std::move(hooks)) {}

Result<void> PeerLink::set_keys(const PeerConfig& peer, Instant now) {
  auto r = session_.set_keys(key_ring(peer), now);
  PeerOutput none;
  act(none, now);
  return r;
}

void PeerLink::hello(Bytes datagram, Instant now) {
  PeerOutput out;
  const PeerCounters before = session_.counters();
  session_.receive(datagram, now, out);
  const PeerCounters& after = session_.counters();
  if (after.agreed + after.new_pairs > before.agreed + before.new_pairs) heard_ = now;
  const bool strange_key = after.unknown_key > before.unknown_key, bad_seal = after.bad_seal > before.bad_seal;
  if (strange_key || bad_seal) {
    refused_ = strange_key
                   ? "HELLOs come that are sealed under a key number which is not in peer.keys here: give both "
                     "ends the same keys"
                   : "HELLOs come that are sealed under another secret than the one in our key file: give both "
                     "ends the same file";
    refused_until_ = now + kRefusedFor;
  }
  act(out, now);
}

void PeerLink::poll(Instant now) {
  if (session_.next_wakeup() > now) return;
  PeerOutput out;
  session_.poll(now, out);
  act(out, now);
}

// Two that answer to one address, or a peer that dies again and again, must not fill the log.
void PeerLink::tell_up(bool peer_started, Instant now) {
  if (now < quiet_until_) {
    ++untold_;
    return;
  }
  hooks_.tell("span " + span_ + ": session up" + (peer_started ? ", the peer has started anew" : ", new keys") +
              (untold_ == 0
                   ? ""
                   : " (and " + std::to_string(untold_) +
                         " times more since this was told last: does one peer alone use its address?)"));
  untold_ = 0;
  quiet_until_ = now + kTellEvery;
}

void PeerLink::act(PeerOutput& out, Instant now) {
  bool started = false;
  for (const PeerEvent& e : out.events) {
    if (const auto* up = std::get_if<SessionUp>(&e)) {
      ++sessions_;
      started = started || up->peer_started;
      restarts_ += up->peer_started && sessions_ > 1 ? 1 : 0;
      trouble_.clear();
      tell_up(up->peer_started, now);
    } else if (const auto* key = std::get_if<KeyConfirmed>(&e)) {
      hooks_.tell("span " + span_ + ": the peer holds key " + std::to_string(key->key.v));
    } else if (const auto* refused = std::get_if<VersionRefused>(&e)) {
      peer_version_ = refused->peer;
      trouble_ = "the peer speaks version " + std::to_string(refused->peer) +
                 " of the control subchannel, this proxy " + std::to_string(refused->own) +
                 ": install the same release at both ends";
    }
  }
  if (started || session_.session().number != published_) {
    published_ = session_.session().number;
    hooks_.keys(session_.session(), started);
  }
  for (const auto& d : out.datagrams) hooks_.send(d);
}

}  // namespace matchrdma::daemon
