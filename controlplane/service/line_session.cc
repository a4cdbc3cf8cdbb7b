#include "controlplane/service/line_session.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <utility>

namespace matchrdma::service {
namespace {

constexpr Duration kAskAgain = Duration::millis(5);  ///< how often something pending is looked at

}  // namespace

LineSession::LineSession(std::unique_ptr<Stream> stream, std::string address, Rights rights,
                         const SessionLimits& limits, Instant now)
    : stream_(std::move(stream)),
      address_(std::move(address)),
      rights_(rights),
      limits_(limits),
      progress_(now) {}

short LineSession::events() const {
  short e = stream_->also_wants();
  if (!out_.empty()) e |= POLLOUT;
  if (out_.empty() && !pending_) e |= POLLIN;
  return e;
}

Instant LineSession::deadline() const {
  if (pending_) return Instant::never();
  if (!trusted()) return progress_ + limits_.introduction;
  return progress_ + (waits_for_client() ? limits_.patience : limits_.idle);
}

Instant LineSession::next_wakeup() const {
  if (pending_) return progress_ + kAskAgain;
  if (out_.empty() && has_request()) return progress_;
  return deadline();
}

void LineSession::run(Commands& commands, short events, Instant now) {
  // Nobody is left to take a reply. Without one under way there may still be a request to read.
  if ((events & (POLLHUP | POLLERR)) != 0 && (pending_ || !out_.empty())) over_ = true;
  if (pending_ && !over_) {
    progress_ = now;
    if (auto line = pending_(now)) answer(std::move(*line), now);
  }
  if (!out_.empty() && !over_) send(now);
  if ((events != 0 || stream_->buffered()) && out_.empty() && !pending_ && !over_) receive(now);
  if (out_.empty() && !pending_ && !over_) start(commands, now);
  if (now >= deadline()) over_ = true;
}

void LineSession::receive(Instant now) {
  std::array<char, 16 << 10> buffer;
  const size_t room = limits_.max_line + 1 - in_.size();
  const Moved m = stream_->read(std::span(buffer).first(std::min(room, buffer.size())));
  if (m.kind == Moved::Kind::kClosed) over_ = true;
  if (m.kind != Moved::Kind::kMoved) return;
  // A request that is begun has to come whole in its time, however slowly it drips.
  if (in_.empty()) progress_ = now;
  in_.append(buffer.data(), m.bytes);
}

void LineSession::start(Commands& commands, Instant now) {
  const size_t end = in_.find('\n');
  if (end == std::string::npos) {
    if (in_.size() <= limits_.max_line) return;
    last_reply_ = true;
    in_.clear();
    answer(refusal("the request is longer than " + std::to_string(limits_.max_line) + " bytes"), now);
    return;
  }
  const std::string line = in_.substr(0, end);
  in_.erase(0, end + 1);
  progress_ = now;
  Outcome o = commands.run(line, rights_, now);
  if (auto* later = std::get_if<Pending>(&o)) {
    pending_ = std::move(*later);
  } else {
    answer(std::move(std::get<std::string>(o)), now);
  }
}

void LineSession::answer(std::string line, Instant now) {
  pending_ = nullptr;
  out_ = std::move(line);
  sent_ = 0;
  progress_ = now;
  send(now);
}

void LineSession::send(Instant now) {
  while (sent_ < out_.size()) {
    const Moved m = stream_->write(std::string_view(out_).substr(sent_));
    if (m.kind == Moved::Kind::kClosed) over_ = true;
    if (m.kind != Moved::Kind::kMoved) return;
    sent_ += m.bytes;
    progress_ = now;
  }
  std::string().swap(out_);  // a long reply gives its memory back
  if (last_reply_) over_ = true;
}

}  // namespace matchrdma::service
