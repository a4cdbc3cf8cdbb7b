#include "host/channel/inbound.h"

#include <algorithm>
#include <utility>

namespace matchrdma::host {

Inbound::~Inbound() {
  for (auto& [id, s] : streams_)
    for (Message& m : s.announced)
      if (m.region) nic_.remove_region(*m.region);
  for (auto& [id, w] : windows_)
    if (w.region) nic_.remove_region(*w.region);
}

Inbound::Stream& Inbound::stream(uint32_t id) {
  MRDMA_CHECK(id < options_.connections);
  return streams_[id];
}

void Inbound::post_receive(uint32_t connection, MutableBytes buffer, uint64_t number) {
  stream(connection).posted.push_back({buffer, number, {}});
}

// The first posted buffer that a message fits into, or its own.
std::deque<Inbound::Buffer>::iterator Inbound::posted_for(Stream& s, uint64_t message, uint64_t length) {
  return std::find_if(s.posted.begin(), s.posted.end(), [&](const Buffer& b) {
    return s.bound ? b.number == message : b.bytes.size() >= length;
  });
}

bool Inbound::fits(const Buffer& b, uint64_t message, uint64_t length) {
  if (length <= b.bytes.size()) return true;
  trouble_ = "message " + std::to_string(message) + " of " + std::to_string(length) +
             " bytes met a buffer of " + std::to_string(b.bytes.size()) + ": post longer buffers, or send less";
  return false;
}

// A posted buffer, or memory of the library.
std::optional<Inbound::Buffer> Inbound::buffer_for(Stream& s, const Message& m, bool may_wait) {
  const auto it = posted_for(s, m.number, m.length);
  if (it != s.posted.end() && fits(*it, m.number, m.length)) {
    Buffer b = std::move(*it);
    s.posted.erase(it);
    return b;
  }
  if (may_wait && s.waits) return {};
  Buffer b;
  b.owned.resize(m.length);
  b.bytes = b.owned;
  return b;
}

void Inbound::give_back(Stream& s, Message& m) {
  if (m.region) nic_.remove_region(*m.region);
  m.region.reset();
  if (m.buffer.number) s.posted.push_front(std::move(m.buffer));
  m.buffer = {};
}

// No key, then the application (rule 3).
void Inbound::deliver(uint32_t id, Stream& s, Message m) {
  if (m.region) nic_.remove_region(*m.region);
  ++s.received;
  ++n_.messages_received;
  received_.push_back(
      {id, m.number, m.buffer.bytes.first(m.length), m.buffer.number, std::move(m.buffer.owned)});
}

// A message that came before the buffer of its number was posted is copied there.
bool Inbound::in_place(ChannelReceived& r) {
  Stream& s = stream(r.connection);
  if (!s.bound || r.buffer) return true;
  const auto it = posted_for(s, r.message, r.data.size());
  if (r.message != s.taken || it == s.posted.end() || !fits(*it, r.message, r.data.size())) return false;
  std::copy(r.data.begin(), r.data.end(), it->bytes.begin());
  r.data = it->bytes.first(r.data.size());
  r.buffer = it->number;
  r.owned.clear();
  s.posted.erase(it);
  return true;
}

std::optional<ChannelReceived> Inbound::take_received() {
  const auto it =
      std::find_if(received_.begin(), received_.end(), [this](ChannelReceived& r) { return in_place(r); });
  if (it == received_.end()) return {};
  ChannelReceived r = std::move(*it);
  received_.erase(it);
  ++stream(r.connection).taken;
  taken_.push_back(r.connection);
  return r;
}

// ---- what comes

bool Inbound::on_small(const ChannelFrame& f, Bytes payload) {
  if (f.stream >= options_.connections || payload.size() != f.length) return false;
  Stream& s = stream(f.stream);
  if (f.message != s.received || s.received - s.taken >= options_.messages_ahead) return false;
  Message m;
  m.number = f.message;
  m.length = f.length;
  m.buffer = *buffer_for(s, m, false);
  std::copy(payload.begin(), payload.end(), m.buffer.bytes.begin());
  deliver(f.stream, s, std::move(m));
  return true;
}

bool Inbound::on_request(const ChannelFrame& f) {
  if (f.stream >= options_.connections || f.length == 0 || f.length > options_.longest_message) return false;
  Stream& s = stream(f.stream);
  const uint64_t least = s.announced.empty() ? s.received : s.announced.back().number + 1;
  if (f.message < least || f.message >= s.taken + options_.messages_ahead) return false;
  Message m;
  m.number = f.message;
  m.length = f.length;
  s.announced.push_back(std::move(m));
  return true;
}

bool Inbound::on_last(uint32_t connection) {
  if (connection >= options_.connections) return false;
  Stream& s = stream(connection);
  if (s.announced.empty() || !s.announced.front().granted || s.announced.front().number != s.received)
    return false;
  Message m = std::move(s.announced.front());
  s.announced.pop_front();
  deliver(connection, s, std::move(m));
  return true;
}

bool Inbound::on_pipe(const ChannelFrame& f, Bytes payload) {
  if (f.epoch <= closed_turn_ || f.epoch < pipe_turn_) {
    ++n_.stale_pipe;
    return true;
  }
  if (f.epoch > pipe_turn_) close_turn(f.epoch - 1);
  pipe_turn_ = f.epoch;
  if (f.stream >= options_.connections || f.length > options_.longest_message) return false;
  Stream& s = stream(f.stream);
  if (f.message != s.received || s.received - s.taken >= options_.messages_ahead) return false;
  if (!s.on_pipe) {
    Message m;
    m.number = f.message;
    m.length = f.length;
    m.buffer = *buffer_for(s, m, false);
    s.on_pipe = std::move(m);
  }
  Message& m = *s.on_pipe;
  if (m.length != f.length || payload.size() > m.length - m.filled) return false;
  std::copy(payload.begin(), payload.end(), m.buffer.bytes.begin() + static_cast<std::ptrdiff_t>(m.filled));
  m.filled += payload.size();
  if (m.filled < m.length) return true;
  Message whole = std::move(m);
  s.on_pipe.reset();
  deliver(f.stream, s, std::move(whole));
  return true;
}

void Inbound::close_turn(uint32_t turn) {
  closed_turn_ = std::max(closed_turn_, turn);
  if (pipe_turn_ > closed_turn_) return;
  for (auto& [id, s] : streams_) {
    if (s.on_pipe) give_back(s, *s.on_pipe);
    s.on_pipe.reset();
  }
}

// ---- windows

void Inbound::open_window(uint32_t window, MutableBytes memory) {
  MRDMA_CHECK(window < options_.windows && !windows_.contains(window));
  windows_[window].memory = memory;
}

uint64_t Inbound::arrived(uint32_t window) const {
  const auto it = windows_.find(window);
  return it == windows_.end() ? 0 : it->second.arrived;
}

void Inbound::release_puts(uint32_t window, uint64_t below) {
  MRDMA_CHECK(below <= arrived(window));
  if (below == 0) return;
  Window& w = windows_.at(window);
  w.released = std::max(w.released, below);
}

void Inbound::announce(uint32_t id, Window& w, RcPath& path) {
  if (w.announced || !path.can_send()) return;
  auto region = nic_.add_region(w.memory, Access::kRemoteWrite);
  if (!region) return;
  w.region = *region;
  w.announced = true;
  ChannelFrame f;
  f.kind = ChannelFrame::Kind::kWindow;
  f.stream = id;
  f.length = w.memory.size();
  f.remote = region->remote;
  f.rkey = region->rkey;
  path.send(f, {}, {});
}

// ---- ways

void Inbound::begin() {
  for (auto& [id, w] : windows_) w.announced = false;
}

void Inbound::fence(RcPath& path) {
  look(path);
  for (auto& [id, s] : streams_) {
    for (auto m = s.announced.rbegin(); m != s.announced.rend(); ++m) give_back(s, *m);
    s.announced.clear();
  }
  for (auto& [id, w] : windows_) {
    if (w.region) nic_.remove_region(*w.region);
    w.region.reset();
  }
}

void Inbound::grant(uint32_t id, Stream& s, RcPath& path) {
  for (Message& m : s.announced) {
    if (m.granted) continue;
    if (!path.can_send()) return;
    std::optional<Buffer> buffer = buffer_for(s, m, true);
    if (!buffer) return;
    m.buffer = std::move(*buffer);
    auto region = nic_.add_region(m.buffer.bytes.first(m.length), Access::kRemoteWrite);
    if (!region) return give_back(s, m);
    m.region = *region;
    m.granted = true;
    ChannelFrame f;
    f.kind = ChannelFrame::Kind::kWriteResponse;
    f.stream = id;
    f.message = m.number;
    f.length = m.length;
    f.remote = region->remote;
    f.rkey = region->rkey;
    path.send(f, {}, {});
  }
}

void Inbound::look(RcPath& path) {
  for (const uint32_t id : taken_) path.set_counter(path.places().taken(id), streams_.at(id).taken);
  taken_.clear();
  for (auto& [id, w] : windows_) {
    w.arrived = std::max(w.arrived, path.counter(path.places().arrived(id)));
    path.set_counter(path.places().taken(options_.connections + id), w.released);
  }
}

void Inbound::work(RcPath& path) {
  for (auto& [id, w] : windows_) announce(id, w, path);
  for (auto& [id, s] : streams_)
    if (!s.announced.empty()) grant(id, s, path);
}

}  // namespace matchrdma::host
