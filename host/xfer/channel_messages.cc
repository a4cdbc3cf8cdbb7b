#include "host/xfer/channel_messages.h"

#include <algorithm>
#include <utility>

#include "host/xfer/news.h"

namespace matchrdma::host {
namespace {

constexpr size_t kFramesAhead = 32;

}  // namespace

bool ChannelMessages::Pipe::write(Bytes frame) {
  if (frames.size() >= kFramesAhead) return false;
  frames.emplace_back(ChannelPiece{{frame.begin(), frame.end()}});
  return true;
}

Result<std::unique_ptr<ChannelMessages>> ChannelMessages::make(const ChannelOptions& options, Nic& nic,
                                                               Instant now) {
  auto engine = ChannelEngine::make(options, nic, now);
  if (!engine) return Error{engine.error()};
  return std::unique_ptr<ChannelMessages>(new ChannelMessages(options, std::move(*engine), nic, now));
}

ChannelMessages::ChannelMessages(const ChannelOptions& options, std::unique_ptr<ChannelEngine> engine, Nic& nic,
                                 Instant now)
    : options_(options), engine_(std::move(engine)), thread_(nic), began_(now) {
  thread_.add(*engine_);
  engine_->in().bind_buffers(kConnection);
}

ChannelMessages::~ChannelMessages() { engine_->set_pipe(nullptr); }

void ChannelMessages::on_peer(uint64_t life, Instant now) {
  engine_->on_control_up(life, now);
  engine_->set_pipe(&pipe_);
}

std::optional<MessageSent> ChannelMessages::take_sent() {
  while (const auto s = engine_->take_sent()) {
    if (s->what == ChannelSent::What::kReleased) return MessageSent{s->message};
    if (s->what == ChannelSent::What::kUnknown) return MessageSent{s->message, "the other end is gone"};
  }
  return {};
}

Result<std::optional<uint64_t>> ChannelMessages::receive_post(MutableBytes buffer, Instant) {
  if (posted_ - received_ >= options_.messages_ahead) return std::optional<uint64_t>();
  engine_->in().post_receive(kConnection, buffer, posted_);
  return std::optional(posted_++);
}

std::optional<MessageReceived> ChannelMessages::take_received() {
  const auto r = engine_->in().take_received();
  if (!r) return {};
  return MessageReceived{received_++, r->data.size(), 0};
}

std::vector<ControlMessage> ChannelMessages::take_control() {
  std::vector<ControlMessage> all;
  while (auto m = engine_->take_control()) all.push_back(std::move(*m));
  std::move(pipe_.frames.begin(), pipe_.frames.end(), std::back_inserter(all));
  pipe_.frames.clear();
  return all;
}

bool ChannelMessages::on_control(const ControlMessage& m, Instant now) {
  const auto* piece = std::get_if<ChannelPiece>(&m);
  if (piece == nullptr) return engine_->on_control(m, now);
  engine_->on_pipe(piece->bytes);
  return true;
}

size_t ChannelMessages::poll(Instant now) {
  const size_t n = thread_.poll(now);
  look_for_news(now);
  return n;
}

void ChannelMessages::look_for_news(Instant now) {
  const ChannelCounters& n = engine_->counters();
  if (std::exchange(fallbacks_, n.fallbacks) != n.fallbacks) {
    fell_back_ = now;
    news_.push_back(milliseconds(now - began_) + ": there is no RDMA; messages go over TCP");
  }
  if (std::exchange(returns_, n.returns) != n.returns)
    news_.push_back(milliseconds(now - began_) + ": back on RDMA after " + milliseconds(now - fell_back_));
}

EndFigures ChannelMessages::figures() const {
  const ChannelCounters& n = engine_->counters();
  EndFigures f;
  f.packets = n.small + n.large + n.over_pipe;
  f.resent = n.replayed;
  return f;
}

}  // namespace matchrdma::host
