#include "host/channel/outbound.h"

#include <algorithm>
#include <utility>

namespace matchrdma::host {

Outbound::Message* Outbound::Stream::find(uint64_t number) {
  if (messages.empty() || number < messages.front().number) return nullptr;
  const uint64_t at = number - messages.front().number;
  return at < messages.size() ? &messages[at] : nullptr;
}

Outbound::Stream& Outbound::stream(uint32_t id) {
  Stream& s = streams_[id];
  s.id = id;
  return s;
}

Outbound::Stream* Outbound::known(uint32_t id) {
  const auto it = streams_.find(id);
  return it == streams_.end() ? nullptr : &it->second;
}

uint64_t Outbound::add(uint32_t id, Message m) {
  Stream& s = stream(id);
  m.number = s.next++;
  s.messages.push_back(m);
  ++under_way_;
  ++n_.messages_sent;
  queue(s);
  return s.next - 1;
}

Result<uint64_t> Outbound::send(uint32_t connection, Bytes data, uint32_t lkey) {
  if (connection >= options_.connections)
    return Error{"channel: connection " + std::to_string(connection) + " of " +
                 std::to_string(options_.connections) + ": make both engines with more connections"};
  if (data.size() > options_.longest_message)
    return Error{"channel: a message of " + std::to_string(data.size()) +
                 " bytes is longer than longest_message, " + std::to_string(options_.longest_message) +
                 ": send it in parts, or raise it at both ends"};
  Message m;
  m.data = data;
  m.lkey = lkey;
  return add(connection, m);
}

Result<uint64_t> Outbound::put(uint32_t window, uint64_t offset, Bytes data, uint32_t lkey) {
  const Stream* const s = known(options_.connections + window);
  if (s == nullptr || !s->window)
    return Error{"put: the peer has not opened window " + std::to_string(window) + " yet: wait for it"};
  if (offset > s->window->length || data.size() > s->window->length - offset)
    return Error{"put of " + std::to_string(data.size()) + " bytes at " + std::to_string(offset) + ": window " +
                 std::to_string(window) + " has " + std::to_string(s->window->length)};
  Message m;
  m.data = data;
  m.lkey = lkey;
  m.offset = offset;
  return add(options_.connections + window, m);
}

std::optional<ChannelSent> Outbound::take_sent() {
  if (sent_.empty()) return {};
  const ChannelSent s = sent_.front();
  sent_.pop_front();
  return s;
}

void Outbound::queue(Stream& s) {
  if (s.queued) return;
  s.queued = true;
  turns_.push_back(s.id);
}

// ---- what the peer says

bool Outbound::on_response(const ChannelFrame& f) {
  Stream* const s = known(f.stream);
  Message* const m = s == nullptr ? nullptr : s->find(f.message);
  if (m == nullptr || !m->requested || m->granted || f.length != m->data.size()) return false;
  m->granted = true;
  m->remote = f.remote;
  m->rkey = f.rkey;
  queue(*s);
  return true;
}

bool Outbound::on_window(const ChannelFrame& f) {
  if (f.stream >= options_.windows) return false;
  Stream& s = stream(options_.connections + f.stream);
  if (s.window && s.window->length != f.length) return false;
  s.window = f;
  s.window_open = true;
  queue(s);
  return true;
}

bool Outbound::on_taken(uint32_t id, uint64_t below) {
  Stream* const s = known(id);
  if (s == nullptr) return below == 0;
  if (below > s->next) return false;
  if (below <= s->taken) return true;
  s->taken = below;
  s->received = std::max(s->received, below);
  release(*s);
  queue(*s);
  return true;
}

bool Outbound::on_resume(uint32_t id, uint64_t below) {
  Stream* const s = known(id);
  if (s == nullptr) return below == 0;
  if (below > s->next) return false;
  s->received = std::max(s->received, below);
  return true;
}

void Outbound::on_done(const RequestNote& note) {
  if (note.what != RequestNote::What::kMessageEnd) return;
  Stream* const s = known(note.stream);
  Message* const m = s == nullptr ? nullptr : s->find(note.message);
  if (m == nullptr) return;
  m->in_nic = false;
  tell(*s, *m, ChannelSent::What::kSent);
  if (options_.faults.retire_on_completion) s->taken = std::max(s->taken, note.message + 1);
  release(*s);
}

// ---- the ends of messages

void Outbound::tell(const Stream& s, Message& m, ChannelSent::What what) {
  if (what == ChannelSent::What::kSent && std::exchange(m.told_sent, true)) return;
  const bool put = is_window(s.id);
  sent_.push_back({what, put, put ? s.id - options_.connections : s.id, m.number});
}

// The peer's application has it, and the NIC has nothing left to send again.
void Outbound::release(Stream& s) {
  while (!s.messages.empty() && s.messages.front().number < s.taken && !s.messages.front().in_nic) {
    tell(s, s.messages.front(), ChannelSent::What::kSent);
    tell(s, s.messages.front(), ChannelSent::What::kReleased);
    s.messages.pop_front();
    --under_way_;
  }
}

void Outbound::begin() {
  for (auto& [id, s] : streams_) {
    s.cursor = s.announced = s.received;
    for (Message& m : s.messages) {
      if (m.number < s.cursor) continue;
      if (m.begun) ++n_.replayed;
      m.begun = m.requested = m.granted = false;
      m.posted = 0;
    }
    if (!s.quiet()) queue(s);
  }
}

void Outbound::close_windows() {
  for (auto& [id, s] : streams_) s.window_open = false;
}

void Outbound::leave_nic() {
  for (auto& [id, s] : streams_) {
    for (Message& m : s.messages) m.in_nic = false;
    release(s);
  }
}

void Outbound::release_all_posted() {
  for (auto& [id, s] : streams_) s.taken = s.received = std::max(s.taken, s.cursor);
  leave_nic();
}

void Outbound::give_up() {
  leave_nic();
  for (auto& [id, s] : streams_) {
    for (Message& m : s.messages) tell(s, m, ChannelSent::What::kUnknown);
    under_way_ -= s.messages.size();
    s.messages.clear();
  }
  turns_.clear();
}

void Outbound::look(RcPath& path) {
  for (auto& [id, s] : streams_)
    if (!s.quiet() && !on_taken(id, path.counter(path.places().taken(id)))) ++n_.bad;
}

}  // namespace matchrdma::host
