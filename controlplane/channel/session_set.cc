#include "controlplane/channel/session_set.h"

#include <algorithm>
#include <utility>

namespace matchrdma {
namespace {

bool holds(const KeyRing& ring, KeyId id) {
  return std::any_of(ring.begin(), ring.end(), [&](const Psk& p) { return p.id == id; });
}

}  // namespace

SessionSet::Pair* SessionSet::newest() {
  if (pending_) return &*pending_;
  return established_ ? &*established_ : nullptr;
}

void SessionSet::add(const RandomPair& pair, const KeyRing& ring) {
  pending_.emplace();
  pending_->numbers = pair;
  for (const Psk& psk : ring) pending_->sessions.push_back({SessionKeys(psk, pair)});
  publish();
}

bool SessionSet::establish(Instant now) {
  if (!pending_) return false;
  const auto& sessions = pending_->sessions;
  if (std::none_of(sessions.begin(), sessions.end(), [](const Session& s) { return s.confirmed; }))
    return false;
  previous_ = std::exchange(established_, std::exchange(pending_, std::nullopt));
  previous_until_ = now + timing_.grace_bound;
  sealing_ = {};
  choose();
  publish();
  return true;
}

bool SessionSet::confirm(KeyId key) {
  Pair* p = newest();
  if (p == nullptr) return false;
  const auto s = std::find_if(p->sessions.begin(), p->sessions.end(),
                              [&](const Session& x) { return x.keys.key_id() == key; });
  if (s == p->sessions.end() || s->confirmed) return false;
  s->confirmed = true;
  choose();
  publish();
  return true;
}

void SessionSet::peer_seals(Instant now) {
  if (!pending_) previous_until_ = earlier(previous_until_, now + timing_.grace);
}

bool SessionSet::reload(const KeyRing& before, const KeyRing& ring) {
  bool renew = false;
  bool older = true;  // than the key sealed under: the peer left it, or will without being told
  for (const Psk& psk : before) {
    if (psk.id == sealing_) older = false;
    if (!holds(ring, psk.id) && !(older && sealing_ != KeyId{})) renew = true;
  }
  for (std::optional<Pair>* p : {&pending_, &established_, &previous_}) {
    if (!*p) continue;
    const bool revived = !reload(**p, ring);
    if (p != &previous_) renew = renew || revived;
  }
  choose();
  publish();
  return renew;
}

/// False where a key that was gone is back: its session stays dead, or recorded datagrams would be new again.
bool SessionSet::reload(Pair& p, const KeyRing& ring) {
  bool sound = true;
  std::vector<Session> sessions;
  for (const Session& s : p.sessions) {
    if (!holds(ring, s.keys.key_id())) p.gone.push_back(s.keys.key_id());
  }
  for (const Psk& psk : ring) {
    const auto kept = std::find_if(p.sessions.begin(), p.sessions.end(),
                                   [&](const Session& s) { return s.keys.key_id() == psk.id; });
    if (kept != p.sessions.end()) {
      sessions.push_back(*kept);
    } else if (std::find(p.gone.begin(), p.gone.end(), psk.id) == p.gone.end()) {
      sessions.push_back({SessionKeys(psk, p.numbers)});
    } else {
      sound = false;
    }
  }
  p.sessions = std::move(sessions);
  return sound;
}

void SessionSet::expire(Instant now) {
  if (now < next_expiry()) return;
  previous_.reset();
  publish();
}

void SessionSet::choose() {
  if (!established_) return;
  const auto usable = [](const Session& s) { return s.confirmed && !s.left; };
  auto& sessions = established_->sessions;
  const auto newest = std::find_if(sessions.rbegin(), sessions.rend(), usable);
  const KeyId chosen = newest == sessions.rend() ? KeyId{} : newest->keys.key_id();
  if (chosen == sealing_) return;
  for (Session& s : sessions) s.left = s.left || s.keys.key_id() == sealing_;
  sealing_ = chosen;
}

void SessionSet::publish() {
  ++snapshot_.number;
  snapshot_.seal.reset();
  snapshot_.open.clear();
  for (const std::optional<Pair>* p : {&pending_, &established_, &previous_}) {
    if (!*p) continue;
    for (const Session& s : (*p)->sessions) {
      snapshot_.open.push_back(s.keys);
      if (p == &established_ && s.keys.key_id() == sealing_) snapshot_.seal = s.keys;
    }
  }
}

}  // namespace matchrdma
