#pragma once
// One proxy's end of the channel as a host would drive it, and a path between two that loses, repeats and
// reorders.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "controlplane/channel/peer_session.h"
#include "controlplane/channel/worker_channel.h"
#include "dataplane/base/prng.h"

namespace matchrdma::test {

using Buffer = std::vector<uint8_t>;

class SeededEntropy : public Entropy {
 public:
  explicit SeededEntropy(uint64_t seed) : r_(seed) {}
  void fill(MutableBytes out) override {
    for (uint8_t& b : out) b = static_cast<uint8_t>(r_.next());
  }

 private:
  Prng r_;
};

inline Psk psk(uint32_t id) {
  Psk p{KeyId{id}, {}};
  SeededEntropy(1000 + id).fill(p.secret.writable());
  return p;
}

/// Every (key, nonce) that was ever sealed with, of sessions and of HELLOs. False: it was there before.
class NonceLog {
 public:
  bool add(const Secret& key, Bytes nonce) {
    std::string both(key.bytes().begin(), key.bytes().end());
    both.append(nonce.begin(), nonce.end());
    return used_.insert(std::move(both)).second;
  }
  size_t size() const { return used_.size(); }

 private:
  std::set<std::string> used_;
};

class Proxy : public DatagramSink {
 public:
  Proxy(uint64_t seed, KeyRing ring, NonceLog* log = nullptr)
      : entropy_(seed), ring_(std::move(ring)), log_(log) {
    restart(Instant{});
  }

  /// A new process: nothing survives but the configuration.
  void restart(Instant now) {
    session.emplace(Offer{5, 1, 100}, entropy_, now);
    channel.emplace(uint16_t{3});
    tags_.clear();
    EXPECT_TRUE(session->set_keys(ring_, now));
  }
  void set_keys(KeyRing ring, Instant now) {
    ring_ = std::move(ring);
    EXPECT_TRUE(session->set_keys(ring_, now));
    refresh();
  }
  void poll(Instant now) {
    if (now < session->next_wakeup()) return;
    session->poll(now, out);
    take(out);
  }
  void receive(Bytes b, Instant now) {
    if (is_hello(b)) {
      session->receive(b, now, out);
      take(out);
    } else {
      channel->receive(b, got);
    }
  }
  void say(const Message& m) {
    channel->send(m, *this);
    channel->flush(*this);
  }
  void datagram(Queue, Bytes b) override {
    const std::optional<SessionHeader> h = SessionHeader::read(b);
    ASSERT_TRUE(h && tags_.count(h->session_tag) == 1);
    if (log_ != nullptr) {
      EXPECT_TRUE(log_->add(tags_.at(h->session_tag).sending(h->worker), b.subspan(16, 8)))
          << "nonce used twice";
    }
    sent.emplace_back(b.begin(), b.end());
  }
  /// What was sent since the last call.
  std::vector<Buffer> taken() { return std::exchange(sent, {}); }
  uint64_t tag() const { return session->session().seal ? session->session().seal->tag() : 0; }
  KeyId key() const { return session->session().seal ? session->session().seal->key_id() : KeyId{}; }
  template <class Event>
  std::vector<Event> all() const {
    std::vector<Event> found;
    for (const PeerEvent& e : out.events) {
      if (const Event* x = std::get_if<Event>(&e)) found.push_back(*x);
    }
    return found;
  }

  std::optional<PeerSession> session;
  std::optional<WorkerChannel> channel;
  PeerOutput out;
  std::vector<Message> got;
  std::vector<Buffer> sent;

 private:
  void take(PeerOutput& o) {
    for (Buffer& b : o.datagrams) {
      const std::optional<HelloHeader> h = HelloHeader::read(b);
      EXPECT_TRUE(log_ == nullptr || log_->add(psk(h->key.v).secret, h->nonce)) << "nonce used twice";
      sent.push_back(std::move(b));
    }
    o.datagrams.clear();
    refresh();
  }
  void refresh() {
    if (const auto& s = session->session().seal) tags_.emplace(s->tag(), *s);
    channel->update(session->session());
  }

  SeededEntropy entropy_;
  KeyRing ring_;
  NonceLog* log_;
  std::map<uint64_t, SessionKeys> tags_;
};

struct PathFaults {
  double loss = 0, duplicate = 0, reorder = 0;
  bool no_hello_to_b = false;
};

/// Two proxies, 5 ms apart, and all that ever was between them.
class Pair {
 public:
  Pair(uint64_t seed, KeyRing ring_a, KeyRing ring_b, NonceLog* log = nullptr)
      : a(2 * seed, std::move(ring_a), log), b(2 * seed + 1, std::move(ring_b), log), random(seed) {}
  explicit Pair(uint64_t seed, NonceLog* log = nullptr) : Pair(seed, {psk(1)}, {psk(1)}, log) {}

  /// One millisecond passes.
  void step() {
    now = now + Duration::millis(1);
    while (!flying_.empty() && flying_.begin()->first <= now) {
      auto [to, bytes] = std::move(flying_.begin()->second);
      flying_.erase(flying_.begin());
      to->receive(bytes, now);
    }
    a.poll(now);
    b.poll(now);
    for (Buffer& d : a.taken()) launch(b, std::move(d));
    for (Buffer& d : b.taken()) launch(a, std::move(d));
  }
  void run(Duration d) {
    for (const Instant end = now + d; now < end;) step();
  }
  bool joined() const { return a.tag() != 0 && a.tag() == b.tag(); }

  Proxy a, b;
  Prng random;
  PathFaults faults;
  Instant now;
  std::vector<Buffer> to_a, to_b;  ///< recorded

 private:
  void launch(Proxy& to, Buffer d) {
    (&to == &a ? to_a : to_b).push_back(d);
    if (random.chance(faults.loss) || (faults.no_hello_to_b && &to == &b && is_hello(d))) return;
    const int copies = random.chance(faults.duplicate) ? 2 : 1;
    for (int i = 0; i < copies; ++i) {
      const int64_t late = random.chance(faults.reorder) ? random.between(0, 60) : 0;
      flying_.emplace(now + Duration::millis(5 + late), std::pair(&to, d));
    }
  }
  std::multimap<Instant, std::pair<Proxy*, Buffer>> flying_;
};

}  // namespace matchrdma::test
