#include "tests/host/channel_app.h"

#include <algorithm>
#include <utility>

namespace matchrdma::host::test {
namespace {

constexpr uint8_t kReleased = 0xee;  // what it writes into a buffer that it has back
constexpr size_t kKept = 32;
constexpr uint32_t kPuts = UINT32_MAX;

}  // namespace

ChannelApp::ChannelApp(uint64_t seed, uint32_t end, const ChannelLoad& load, ModelNic& nic)
    : seed_(seed), end_(end), load_(load), nic_(nic), prng_(seed * 2 + end), connections_(load.connections) {
  for (Connection& c : connections_) {
    c.posted.resize(load_.buffers);
    for (Posted& p : c.posted) {
      p.bytes.resize(load_.most_bytes + 1);
      fill(p);
    }
  }
  window_.resize(size_t{load_.put_slots} * load_.put_bytes);
  word_region_ =
      *nic_.add_region({reinterpret_cast<uint8_t*>(word_.data()), sizeof word_}, Access::kRemoteAtomic);
}

void ChannelApp::fail(const std::string& what) {
  if (wrong_.empty()) wrong_ = "end " + std::to_string(end_) + ": " + what;
}

std::vector<uint8_t> ChannelApp::content(uint32_t from, uint32_t connection, uint64_t index) const {
  Prng p((seed_ * 1'000'003 + index) * 64 + connection * 2 + from);
  const auto length =
      static_cast<uint64_t>(connection == kPuts ? p.between(0, load_.put_bytes)
                                                : p.between(static_cast<int64_t>(load_.least_bytes),
                                                            static_cast<int64_t>(load_.most_bytes)));
  std::vector<uint8_t> bytes(length);
  for (uint8_t& b : bytes) b = static_cast<uint8_t>(p.next());
  return bytes;
}

void ChannelApp::fill(Posted& p) {
  p.mark = static_cast<uint8_t>(prng_.below(256));
  std::fill(p.bytes.begin(), p.bytes.end(), p.mark);
  p.owned = true;
}

void ChannelApp::check_mark(Bytes bytes, uint8_t mark) {
  if (std::any_of(bytes.begin(), bytes.end(), [mark](uint8_t v) { return v != mark; }))
    fail("a buffer that the application had was written to");
}

// ---- lives

void ChannelApp::begin(ChannelEngine& engine, ChannelApp& peer) {
  engine_ = &engine;
  peer_ = &peer;
  for (uint32_t i = 0; i < connections_.size(); ++i) {
    Connection& c = connections_[i];
    c.base = c.next = peer.connections_[i].taken;
    c.taken_base = c.taken;
    if (load_.wait_for_buffers && load_.buffers > 0) engine_->in().wait_for_buffers(i);
  }
  put_base_ = put_next_ = put_released_ = peer.seen_puts_;
  seen_base_ = seen_puts_;
  if (load_.puts > 0) engine_->in().open_window(0, window_);
  asked_in_life_ = reported_in_life_ = 0;
}

void ChannelApp::end() {
  if (engine_ == nullptr) return;
  // What nobody reported any more may have taken effect.
  unknown_ += asked_in_life_ - reported_in_life_;
  reported_ += asked_in_life_ - reported_in_life_;
  engine_ = nullptr;
  for (Connection& c : connections_) {
    for (Posted& p : c.posted)
      if (!p.owned) fill(p);
    for (auto& [index, sent] : c.sent) sent.released = true;
    c.released = 0;
  }
}

// ---- one look

void ChannelApp::step() {
  if (engine_ == nullptr) return;
  while (const auto s = engine_->take_sent()) on_sent(*s);
  if (!prng_.chance(load_.lazy))
    while (auto r = engine_->in().take_received()) take(std::move(*r));
  look_at_puts();
  for (uint32_t i = 0; i < connections_.size(); ++i) {
    post(i, connections_[i]);
    send(i, connections_[i]);
  }
  put();
  step_atomics();
}

void ChannelApp::drain() {
  while (const auto s = engine_->take_sent()) on_sent(*s);
  while (auto r = engine_->in().take_received()) take(std::move(*r));
  look_at_puts();
  step_atomics();
}

void ChannelApp::post(uint32_t id, Connection& c) {
  for (size_t i = 0; i < c.posted.size(); ++i) {
    Posted& p = c.posted[i];
    if (!p.owned) continue;
    check_mark(p.bytes, p.mark);
    p.owned = false;
    engine_->in().post_receive(id, p.bytes, i);
  }
}

void ChannelApp::send(uint32_t id, Connection& c) {
  while (c.next < load_.messages && c.next - std::max(c.base, c.released) < load_.outstanding) {
    Sent& s = c.sent[c.next];
    // Another life may have left the NIC reading nothing of it.
    s.bytes = content(end_, id, c.next);
    s.released = false;
    const auto number = engine_->send(id, s.bytes, 0);
    if (!number || *number != c.next - c.base) fail("a message has a wrong number");
    ++c.next;
  }
}

void ChannelApp::take(ChannelReceived r) {
  Connection& c = connections_[r.connection];
  if (r.message != c.taken - c.taken_base)
    return fail("message " + std::to_string(r.message) + " out of order or twice");
  const std::vector<uint8_t> right = content(1 - end_, r.connection, c.taken);
  if (r.data.size() != right.size() || !std::equal(right.begin(), right.end(), r.data.begin()))
    return fail("message " + std::to_string(c.taken) + " of connection " + std::to_string(r.connection) +
                " has wrong bytes");
  ++c.taken;
  ++delivered_messages_;
  if (r.buffer) return fill(c.posted[*r.buffer]);
  const auto mark = static_cast<uint8_t>(prng_.below(256));
  std::fill(r.owned.begin(), r.owned.end(), mark);
  kept_.push_back({std::move(r.owned), mark});
  for (const Kept& k : kept_) check_mark(k.bytes, k.mark);
  if (kept_.size() > kKept) kept_.pop_front();
}

void ChannelApp::on_sent(const ChannelSent& s) {
  if (s.what == ChannelSent::What::kSent) return;
  const bool released = s.what == ChannelSent::What::kReleased;
  if (s.put) {
    const uint64_t index = put_base_ + s.message;
    if (released && peer_->seen_puts_ <= index)
      fail("put " + std::to_string(index) + " was released before it arrived");
    if (released) put_released_ = index + 1;
    auto& bytes = put_bytes_.at(index);
    std::fill(bytes.begin(), bytes.end(), kReleased);
    return;
  }
  Connection& c = connections_[s.id];
  const uint64_t index = c.base + s.message;
  Sent& sent = c.sent.at(index);
  if (std::exchange(sent.released, true)) fail("a buffer was released twice");
  if (released && peer_->connections_[s.id].taken <= index)
    fail("message " + std::to_string(index) + " was released before the peer had it");
  if (released) c.released = index + 1;
  std::fill(sent.bytes.begin(), sent.bytes.end(), kReleased);
}

// ---- puts

void ChannelApp::put() {
  while (put_next_ < load_.puts && put_next_ - put_released_ < load_.put_slots) {
    auto bytes = content(end_, kPuts, put_next_);
    const uint64_t at = put_next_ % load_.put_slots * load_.put_bytes;
    const auto n = engine_->put(0, at, bytes, 0);
    if (!n) return;  // not open yet
    if (*n != put_next_ - put_base_) fail("a put has a wrong number");
    put_bytes_[put_next_++].swap(bytes);
  }
}

void ChannelApp::look_at_puts() {
  const uint64_t arrived = seen_base_ + engine_->in().arrived(0);
  for (; seen_puts_ < arrived; ++seen_puts_) {
    const auto right = content(1 - end_, kPuts, seen_puts_);
    const Bytes slot = Bytes(window_).subspan(seen_puts_ % load_.put_slots * load_.put_bytes, right.size());
    if (!std::equal(right.begin(), right.end(), slot.begin()))
      fail("put " + std::to_string(seen_puts_) + " has wrong bytes");
  }
  engine_->in().release_puts(0, seen_puts_ - seen_base_);
}

// ---- atomics

void ChannelApp::step_atomics() {
  while (const auto a = engine_->atomics().take()) {
    ++reported_;
    ++reported_in_life_;
    if (a->what == ChannelAtomic::What::kDone && !befores_.insert(a->before).second)
      fail("two additions found " + std::to_string(a->before));
    switch (a->what) {
      case ChannelAtomic::What::kDone:
      case ChannelAtomic::What::kTookEffect:
        ++did_;
        break;
      case ChannelAtomic::What::kUnknown:
        ++unknown_;
        break;
      case ChannelAtomic::What::kNotSent:
        ++not_sent_;
        break;
    }
    const uint64_t word = peer_->word_[0];
    if (word < did_) fail("an addition was reported that did not happen");
  }
  if (peer_->word_[0] > asked_ - not_sent_) fail("an addition happened twice");
  // Over the whole run, as messages come.
  const bool due = (1 + delivered_messages_) * load_.atomics > asked_ * load_.messages * load_.connections;
  if (engine_->gone().empty() && asked_ < load_.atomics && due && prng_.chance(0.2)) {
    ++asked_;
    ++asked_in_life_;
    engine_->atomics().fetch_add({peer_->word_region_.remote, peer_->word_region_.rkey}, 1);
  }
}

bool ChannelApp::done() const {
  if (engine_ == nullptr || engine_->under_way() > 0 || asked_ < load_.atomics || reported_ < asked_)
    return false;
  if (peer_->seen_puts_ < load_.puts) return false;
  return std::all_of(peer_->connections_.begin(), peer_->connections_.end(),
                     [this](const Connection& c) { return c.taken == load_.messages; });
}

std::string ChannelApp::progress() const {
  std::string s = "end " + std::to_string(end_) + " took";
  for (const Connection& c : connections_) s += " " + std::to_string(c.taken);
  s += " of " + std::to_string(load_.messages) + ", puts " + std::to_string(seen_puts_) + " of " +
       std::to_string(load_.puts) + ", atomics reported " + std::to_string(reported_) + " of " +
       std::to_string(load_.atomics);
  if (engine_ != nullptr)
    s += ", under way " + std::to_string(engine_->under_way()) + ", path " +
         std::to_string(static_cast<int>(engine_->path())) + " epoch " + std::to_string(engine_->epoch());
  return s;
}

}  // namespace matchrdma::host::test
