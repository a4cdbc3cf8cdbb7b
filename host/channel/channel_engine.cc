#include "host/channel/channel_engine.h"

#include <utility>

namespace matchrdma::host {
namespace {

Result<void> check_options(const ChannelOptions& o, const NicLimits& nic) {
  if (o.connections == 0 || o.fragment_bytes == 0 || o.messages_ahead == 0 || o.requests_ahead == 0)
    return Error{"channel: connections, fragment_bytes, messages_ahead and requests_ahead are at least 1"};
  if (o.receives < 4 || o.receives > nic.max_receive_queue)
    return Error{"channel: " + std::to_string(o.receives) + " receives: choose 4 to " +
                 std::to_string(nic.max_receive_queue) + ", this NIC's receive queue"};
  if (o.send_queue < 32 || o.send_queue > nic.max_send_queue || o.send_slots < 32)
    return Error{"channel: send_queue is 32 to " + std::to_string(nic.max_send_queue) +
                 " of this NIC, send_slots at least 32"};
  return {};
}

}  // namespace

ChannelEngine::ChannelEngine(const ChannelOptions& options, Nic& nic, Instant now)
    : options_(options),
      nic_(nic),
      path_(options_, nic, n_),
      out_(options_, n_),
      in_(options_, nic, n_),
      retry_at_(now),
      moved_at_(now),
      up_until_(now),
      pipe_told_(options.connections),
      heard_(now),
      ping_at_(now) {}

Result<std::unique_ptr<ChannelEngine>> ChannelEngine::make(const ChannelOptions& options, Nic& nic,
                                                           Instant now) {
  if (auto r = check_options(options, nic.limits()); !r) return Error{r.error()};
  std::unique_ptr<ChannelEngine> e(new ChannelEngine(options, nic, now));
  if (auto r = e->path_.prepare(); !r) return Error{r.error()};
  return e;
}

// ---- the queue pair

void ChannelEngine::on_completion(const Completion& c, Instant now) {
  if (!path_.is(c.qp)) return;
  const auto arrival = path_.take(c);
  for (const RequestNote& note : path_.take_done()) {
    if (note.what == RequestNote::What::kAtomic) {
      atomics_.on_done(note, path_.result(note));
    } else {
      out_.on_done(note);
    }
  }
  if (arrival) take_arrival(*arrival, now);
}

void ChannelEngine::take_arrival(const RcArrival& a, Instant now) {
  ++effects_;
  bool right = false;
  if (a.immediate) {
    right = in_.on_last(*a.immediate);
  } else if (const auto f = decode_frame(a.bytes); f && f->epoch == epoch_) {
    right = take_frame(*f, a.bytes.subspan(kChannelFrameBytes), now);
  }
  path_.give_back(a.receive);
  if (right) return;
  ++n_.bad;
  end("the peer says what no engine says, on the queue pair");
}

bool ChannelEngine::take_frame(const ChannelFrame& f, Bytes payload, Instant now) {
  switch (f.kind) {
    case ChannelFrame::Kind::kOpen:
      open(f, now);
      return true;
    case ChannelFrame::Kind::kSmall:
      return in_.on_small(f, payload);
    case ChannelFrame::Kind::kWriteRequest:
      return in_.on_request(f);
    case ChannelFrame::Kind::kWriteResponse:
      return out_.on_response(f);
    case ChannelFrame::Kind::kWindow:
      return out_.on_window(f);
    case ChannelFrame::Kind::kPipeData:
    case ChannelFrame::Kind::kPipeTaken:
      break;
  }
  return false;
}

void ChannelEngine::open(const ChannelFrame& f, Instant now) {
  if (state_ != Path::kOffered && state_ != Path::kAnswered) return;
  path_.on_open(f);
  if (state_ == Path::kAnswered) path_.say_open();
  state_ = Path::kUp;
  moved_at_ = now;
  in_.begin();
  out_.close_windows();
}

// ---- all that is due

void ChannelEngine::poll(Instant now) {
  if (!in_.trouble().empty()) end(in_.trouble());
  if (gone_.empty()) keep_alive(now);
  if (!gone_.empty()) return step_end();
  path_.look();
  in_.look(path_);
  if (state_ == Path::kUp) out_.look(path_);
  step_path(now);
  step_way(now);
  work();
  path_.flush();
}

void ChannelEngine::work() {
  if (state_ == Path::kUp) {
    in_.work(path_);
    atomics_.work(path_);
    if (way_ == Way::kRdma) out_.work(path_);
    return;
  }
  if (pipe_ == nullptr) return;
  if (way_ == Way::kPipe) out_.work(*pipe_, turn_);
  in_.each_taken([this](uint32_t connection, uint64_t below) {
    if (below <= pipe_told_[connection]) return;
    std::array<uint8_t, kChannelFrameBytes> frame{};
    ChannelFrame f;
    f.kind = ChannelFrame::Kind::kPipeTaken;
    f.stream = connection;
    f.message = below;
    encode_frame(f, frame);
    if (pipe_->write(frame)) pipe_told_[connection] = below;
  });
}

Instant ChannelEngine::next_wakeup() const {
  if (!gone_.empty()) return Instant::never();
  Instant at = heard_ + options_.peer_patience;
  if (control_up_) at = earlier(at, ping_at_);
  switch (state_) {
    case Path::kDown:
      if (options_.offers && control_up_) at = earlier(at, retry_at_);
      break;
    case Path::kOffered:
    case Path::kAnswered:
      at = earlier(at, since_ + options_.offer_patience);
      break;
    case Path::kUp:
      if (path_.busy()) at = earlier(at, moved_at_ + options_.path_patience);
      break;
    case Path::kFencing:
      break;
  }
  if (way_ == Way::kNone && pipe_ != nullptr && state_ != Path::kUp && state_ != Path::kFencing)
    at = earlier(at, up_until_ + options_.fallback_after);
  return at;
}

}  // namespace matchrdma::host
