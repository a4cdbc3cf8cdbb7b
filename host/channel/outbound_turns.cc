// Whose turn it is, and what a stream does with it.
#include <algorithm>
#include <utility>

#include "host/channel/outbound.h"

namespace matchrdma::host {

// Each stream that has something gets a turn until all that are left have nothing or must wait. One that has
// nothing leaves; what it waits for brings it back.
template <class Each>
void Outbound::turns(Each&& each) {
  size_t waiting = 0;
  while (waiting < turns_.size()) {
    Stream& s = streams_.at(turns_.front());
    const Turn t = each(s);
    if (t == Turn::kDone) waiting = 0;
    if (!options_.round_robin && t != Turn::kNothing) {
      if (t == Turn::kLater) return;
      continue;
    }
    turns_.pop_front();
    if (t == Turn::kNothing) {
      s.queued = false;
      continue;
    }
    turns_.push_back(s.id);
    if (t == Turn::kLater) ++waiting;
  }
}

void Outbound::work(RcPath& path) {
  turns([&](Stream& s) { return turn(s, path); });
}

void Outbound::work(MessagePipe& pipe, uint32_t number) {
  turns([&](Stream& s) { return pipe_turn(s, pipe, number); });
}

// The next message that is to be posted, unless the peer's application has too much before it.
Outbound::Message* Outbound::at_cursor(Stream& s) {
  if (s.cursor >= s.taken + options_.messages_ahead) return nullptr;
  return s.find(s.cursor);
}

void Outbound::end_message(Stream& s, Message& m) {
  s.cursor = m.number + 1;
  s.announced = std::max(s.announced, s.cursor);
}

Outbound::Turn Outbound::turn(Stream& s, RcPath& path) {
  if (!is_window(s.id))
    if (const Turn t = announce(s, path); t == Turn::kDone) return t;
  Message* const m = at_cursor(s);
  if (m == nullptr) return Turn::kNothing;
  if (is_window(s.id)) return put_turn(s, *m, path);
  return small(*m) ? small_turn(s, *m, path) : large_turn(s, *m, path);
}

// Requests go ahead of the messages before theirs, so that the answer costs no round trip where there is work.
Outbound::Turn Outbound::announce(Stream& s, RcPath& path) {
  const uint64_t most = std::min(s.cursor + options_.requests_ahead, s.taken + options_.messages_ahead);
  for (; s.announced < most; ++s.announced) {
    Message* const m = s.find(s.announced);
    if (m == nullptr) return Turn::kNothing;
    if (small(*m)) continue;
    if (!path.can_send()) return Turn::kLater;
    ChannelFrame f;
    f.kind = ChannelFrame::Kind::kWriteRequest;
    f.stream = s.id;
    f.message = m->number;
    f.length = m->data.size();
    path.send(f, {}, {});
    m->requested = m->begun = true;
    ++s.announced;
    return Turn::kDone;
  }
  return Turn::kNothing;
}

Outbound::Turn Outbound::small_turn(Stream& s, Message& m, RcPath& path) {
  if (!path.can_send() || !path.has_room(m.data.size())) return Turn::kLater;
  ChannelFrame f;
  f.kind = ChannelFrame::Kind::kSmall;
  f.stream = s.id;
  f.message = m.number;
  f.length = m.data.size();
  m.begun = m.in_nic = true;
  path.send(f, m.data, {RequestNote::What::kMessageEnd, UINT32_MAX, s.id, m.number});
  ++n_.small;
  end_message(s, m);
  return Turn::kDone;
}

Outbound::Turn Outbound::large_turn(Stream& s, Message& m, RcPath& path) {
  if (!m.granted) return m.requested ? Turn::kNothing : Turn::kLater;
  const size_t some = std::min<size_t>(options_.fragment_bytes, m.data.size() - m.posted);
  const bool last = m.posted + some == m.data.size();
  if (!path.has_room(some) || (last && !path.has_credit())) return Turn::kLater;
  m.begun = m.in_nic = true;
  const Bytes part = m.data.subspan(m.posted, some);
  if (!last) {
    path.write(part, m.lkey, m.remote + m.posted, m.rkey,
               {RequestNote::What::kFragment, UINT32_MAX, s.id, m.number});
    m.posted += some;
    return Turn::kDone;
  }
  path.write_last(part, m.lkey, m.remote + m.posted, m.rkey, s.id,
                  {RequestNote::What::kMessageEnd, UINT32_MAX, s.id, m.number});
  m.posted += some;
  ++n_.large;
  end_message(s, m);
  return Turn::kDone;
}

// The counter follows its bytes on the same queue pair: who sees it sees them.
Outbound::Turn Outbound::put_turn(Stream& s, Message& m, RcPath& path) {
  if (!s.window_open) return Turn::kNothing;
  const size_t some = std::min<size_t>(options_.fragment_bytes, m.data.size() - m.posted);
  const bool last = m.posted + some == m.data.size();
  if (!path.has_room(some) || (last && !path.can_write_counters(2))) return Turn::kLater;
  m.begun = m.in_nic = true;
  if (some > 0)
    path.write(m.data.subspan(m.posted, some), m.lkey, s.window->remote + m.offset + m.posted, s.window->rkey,
               {RequestNote::What::kFragment, UINT32_MAX, s.id, m.number});
  m.posted += some;
  if (!last) return Turn::kDone;
  path.write_counter(path.places().arrived(s.id - options_.connections), m.number + 1,
                     {RequestNote::What::kMessageEnd, UINT32_MAX, s.id, m.number});
  ++n_.puts;
  end_message(s, m);
  return Turn::kDone;
}

// Puts need RDMA and wait for it.
Outbound::Turn Outbound::pipe_turn(Stream& s, MessagePipe& pipe, uint32_t number) {
  Message* const m = is_window(s.id) ? nullptr : at_cursor(s);
  if (m == nullptr) return Turn::kNothing;
  const size_t some = std::min<size_t>(options_.fragment_bytes, m->data.size() - m->posted);
  ChannelFrame f;
  f.kind = ChannelFrame::Kind::kPipeData;
  f.epoch = number;
  f.stream = s.id;
  f.message = m->number;
  f.length = m->data.size();
  frame_.resize(kChannelFrameBytes + some);
  encode_frame(f, frame_);
  const Bytes part = m->data.subspan(m->posted, some);
  std::copy(part.begin(), part.end(), frame_.begin() + kChannelFrameBytes);
  if (!pipe.write(frame_)) return Turn::kLater;
  m->begun = true;
  m->posted += some;
  if (m->posted < m->data.size()) return Turn::kDone;
  ++n_.over_pipe;
  tell(s, *m, ChannelSent::What::kSent);
  end_message(s, *m);
  return Turn::kDone;
}

}  // namespace matchrdma::host
