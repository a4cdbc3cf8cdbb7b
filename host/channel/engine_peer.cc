// What an engine hears from the peer's process, over control and over TCP, and what it does when that is gone.
#include <algorithm>
#include <utility>

#include "host/channel/channel_engine.h"

namespace matchrdma::host {

std::optional<ControlMessage> ChannelEngine::take_control() {
  if (control_.empty() || !control_up_) return {};
  ControlMessage m = std::move(control_.front());
  control_.pop_front();
  return m;
}

std::optional<uint32_t> ChannelEngine::take_unregister() {
  if (unregister_.empty()) return {};
  const uint32_t qpn = unregister_.front();
  unregister_.pop_front();
  return qpn;
}

// What was said before may be lost: what matters is said again.
void ChannelEngine::on_control_up(uint64_t peer_life, Instant now) {
  if (life_ != 0 && life_ != peer_life) return end("the peer's process was started anew");
  life_ = peer_life;
  control_up_ = true;
  control_.clear();
  heard_ = ping_at_ = now;
  fence_said_ = leave_said_ = false;
}

bool ChannelEngine::on_control(const ControlMessage& m, Instant now) {
  heard_ = now;
  if (!gone_.empty()) return false;
  if (const auto* ping = std::get_if<Ping>(&m)) {
    control_.emplace_back(Pong{ping->number});
  } else if (const auto* pong = std::get_if<Pong>(&m)) {
    return pong->number >= kUpperPing;
  } else if (const auto* addresses = std::get_if<PathAddresses>(&m)) {
    on_addresses(*addresses, now);
  } else if (const auto* fence = std::get_if<Fence>(&m)) {
    if (fence->path != options_.first_path && fence->path != pipe_path()) return false;
    on_fence(*fence, now);
  } else if (const auto* fenced = std::get_if<Fenced>(&m)) {
    if (fenced->path != options_.first_path && fenced->path != pipe_path()) return false;
    on_fenced(*fenced);
  } else if (const auto* resume = std::get_if<Resume>(&m)) {
    if (resume->stream < options_.first_stream || resume->stream - options_.first_stream > atomics_stream())
      return false;
    on_resume(*resume);
  } else {
    return false;
  }
  return true;
}

void ChannelEngine::on_resume(const Resume& m) {
  const uint32_t stream = m.stream - options_.first_stream;
  if (stream == atomics_stream()) {
    atomics_at_peer_ = std::max(atomics_at_peer_, m.delivered);
  } else if (!out_.on_resume(stream, m.delivered)) {
    ++n_.bad;
    end("the peer resumes after messages that were never sent");
  }
}

// H16: a proxy answers for the far NIC, nobody answers for the far process.
void ChannelEngine::keep_alive(Instant now) {
  if (now - heard_ > options_.peer_patience)
    return end("the peer's process has not said a word for " +
               std::to_string(options_.peer_patience.ns / 1'000'000) + " ms");
  if (!control_up_ || now < ping_at_) return;
  control_.emplace_back(Ping{kUpperPing | ++pings_});
  ping_at_ = now + options_.ping_every;
}

void ChannelEngine::end(const std::string& why) {
  if (!gone_.empty()) return;
  gone_ = why;
  control_.clear();
  if (state_ != Path::kDown) unregister_.push_back(address_.qpn);
  path_.fail();
}

void ChannelEngine::step_end() {
  if (over_ || !path_.drained()) return;
  in_.fence(path_);
  path_.end();
  out_.give_up();
  atomics_.give_up();
  over_ = true;
}

// ---- the TCP way

void ChannelEngine::set_pipe(MessagePipe* pipe) {
  pipe_ = pipe;
  if (way_ == Way::kPipe) {
    way_ = Way::kLeavingPipe;
    leave_said_ = false;
  }
  std::fill(pipe_told_.begin(), pipe_told_.end(), 0);
}

void ChannelEngine::on_pipe(Bytes frame) {
  if (!gone_.empty()) return;
  const auto f = decode_frame(frame);
  bool right = false;
  if (f && f->kind == ChannelFrame::Kind::kPipeData) {
    right = in_.on_pipe(*f, frame.subspan(kChannelFrameBytes));
  } else if (f && f->kind == ChannelFrame::Kind::kPipeTaken) {
    right = f->stream < options_.connections && out_.on_taken(f->stream, f->message);
  }
  if (right) return;
  ++n_.bad;
  end("the peer says what no engine says, over TCP");
}

}  // namespace matchrdma::host
