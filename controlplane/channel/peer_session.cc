#include "controlplane/channel/peer_session.h"

#include <algorithm>

namespace matchrdma {
namespace {

constexpr Duration kRefusalRepeat = Duration::seconds(10);

/// What makes a ring wrong, or empty.
std::string complaint(const KeyRing& now, const KeyRing& next) {
  if (next.empty() || next.size() > 2)
    return "one key or two can be loaded, not " + std::to_string(next.size());
  if (next.size() == 2 && next[0].id == next[1].id) return "both keys have the same id: give one a new id";
  std::vector<KeyId> order;
  for (const Psk& psk : next) {
    if (psk.id == KeyId{}) return "key id 0 is no key: number keys from 1";
    const auto same = std::find_if(now.begin(), now.end(), [&](const Psk& p) { return p.id == psk.id; });
    if (same == now.end()) continue;
    if (!(same->secret == psk.secret)) {
      return "key id " + std::to_string(psk.id.v) +
             " is loaded with another secret: give a new secret a new id";
    }
    order.push_back(psk.id);
  }
  if (order.size() == 2 && order[0] != now[0].id)
    return "loaded keys cannot change places: the newest stands last";
  return {};
}

}  // namespace

bool is_hello(Bytes udp_payload) { return HelloHeader::read(udp_payload).has_value(); }

PeerSession::PeerSession(const Offer& offer, Entropy& entropy, Instant now, const HandshakeTiming& timing)
    : entropy_(&entropy), handshake_(timing, offer, entropy, now), sessions_(timing) {}

Result<void> PeerSession::check_keys(const KeyRing& ring) const {
  if (std::string wrong = complaint(ring_, ring); !wrong.empty()) return Error{std::move(wrong)};
  return {};
}

Result<void> PeerSession::set_keys(KeyRing ring, Instant now) {
  if (auto r = check_keys(ring); !r) return r;
  const KeyRing before = std::exchange(ring_, std::move(ring));
  seals_.clear();
  for (const Psk& psk : ring_) seals_.emplace_back(psk);
  if (sessions_.reload(before, ring_)) handshake_.renew(now);
  handshake_.say_now(now);
  return {};
}

HelloSeal* PeerSession::seal_of(KeyId key) {
  const auto s = std::find_if(seals_.begin(), seals_.end(), [&](const HelloSeal& x) { return x.key() == key; });
  return s == seals_.end() ? nullptr : &*s;
}

void PeerSession::receive(Bytes udp_payload, Instant now, PeerOutput& out) {
  const std::optional<HelloHeader> header = HelloHeader::read(udp_payload);
  if (!header) {
    ++n_.not_hello;
    return;
  }
  HelloSeal* seal = seal_of(header->key);
  if (seal == nullptr) {
    ++n_.unknown_key;
    return;
  }
  const OpenedHello opened = seal->open(*header, udp_payload);
  if (const auto* hello = std::get_if<Hello>(&opened)) {
    heard(*hello, *seal, now, out);
  } else if (const auto* other = std::get_if<OtherVersion>(&opened)) {
    refused(other->version, now, out);
  } else {
    ++(std::get<HelloFault>(opened) == HelloFault::kBadSeal ? n_.bad_seal : n_.malformed);
  }
}

void PeerSession::heard(const Hello& h, HelloSeal& seal, Instant now, PeerOutput& out) {
  const Handshake::Heard what = handshake_.hear(h, now);
  AnswerLimit* limit = &proven_answers_;
  switch (what) {
    case Handshake::Heard::kReflected:
      ++n_.reflected;
      return;
    case Handshake::Heard::kUnproven:
      ++n_.unproven;
      limit = &unproven_answers_;
      break;
    case Handshake::Heard::kNewPair:
      ++n_.new_pairs;
      peer_seals_under_ = {};
      sessions_.add(*handshake_.pair(), ring_);
      agreed(h, seal.key(), now, out);
      break;
    case Handshake::Heard::kAgreed:
      ++n_.agreed;
      agreed(h, seal.key(), now, out);
      break;
  }
  if (h.ack) return;
  if (!limit->take(now)) {
    ++n_.unanswered;
    return;
  }
  out.datagrams.push_back(seal.seal(handshake_.answer(h, sessions_.seals_under_newest()), *entropy_));
}

void PeerSession::agreed(const Hello& h, KeyId key, Instant now, PeerOutput& out) {
  if (sessions_.confirm(key)) {
    out.events.push_back(KeyConfirmed{key});
    handshake_.say_now(now);
  }
  if (!handshake_.mutual()) return;
  if (sessions_.establish(now)) {
    const bool started = !was_up_ || handshake_.peer_life() != life_in_use_;
    was_up_ = true;
    life_in_use_ = handshake_.peer_life();
    out.events.push_back(SessionUp{session().seal->tag(), started});
    handshake_.say_now(now);
  }
  if (h.seals_under == KeyId{}) return;
  peer_seals_under_ = h.seals_under;
  sessions_.peer_seals(now);
}

void PeerSession::refused(uint8_t version, Instant now, PeerOutput& out) {
  ++n_.other_version;
  // Told once in a while, however often such HELLOs come.
  if (version == refused_version_ && now < refused_until_) return;
  refused_version_ = version;
  refused_until_ = now + kRefusalRepeat;
  out.events.push_back(VersionRefused{kChannelVersion, version});
}

void PeerSession::poll(Instant now, PeerOutput& out) {
  sessions_.expire(now);
  if (now < handshake_.due() || seals_.empty()) return;
  for (HelloSeal& s : seals_) {
    out.datagrams.push_back(s.seal(handshake_.hello(sessions_.seals_under_newest()), *entropy_));
  }
  handshake_.said(now);
}

Instant PeerSession::next_wakeup() const {
  return earlier(seals_.empty() ? Instant::never() : handshake_.due(), sessions_.next_expiry());
}

}  // namespace matchrdma
