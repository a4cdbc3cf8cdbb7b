#include "sim/send_qp.h"

#include <algorithm>
#include <limits>

#include "dataplane/base/check.h"

namespace matchrdma::sim {

SendQp::SendQp(const SenderSettings& settings, Rate line_rate)
    : s_(settings), line_rate_(static_cast<double>(line_rate.bps)), retries_left_(settings.retries) {
  if (s_.reaction) reaction_.emplace(*s_.reaction, line_rate_);
}

void SendQp::post(int64_t bytes) {
  MRDMA_CHECK(bytes > 0);
  posted_.byte += bytes;
  posted_.psn += (bytes + s_.mtu - 1) / s_.mtu;
  ends_.push_back(posted_);
}

int64_t SendQp::window() const {
  if (s_.window_bytes == 0) return std::numeric_limits<int64_t>::max();
  if (!s_.window_follows_rate) return s_.window_bytes;
  return static_cast<int64_t>(static_cast<double>(s_.window_bytes) * rate() / line_rate_);
}

SimTime SendQp::ready_at() const {
  if (nxt_.psn == posted_.psn || failed_ || nxt_.byte - una_.byte >= window()) return SimTime::never();
  return next_avail_;
}

void SendQp::fill(SimPacket& p, SimTime now, const FrameSizes& frames, Tick tick) {
  const Place end = ends_[sending_];
  p.kind = FrameKind::kData;
  p.traffic_class = s_.traffic_class;
  p.seq = nxt_.psn;
  p.payload = static_cast<uint32_t>(std::min<int64_t>(s_.mtu, end.byte - nxt_.byte));
  p.starts_message = nxt_.psn == start_.psn;
  if (p.starts_message) p.message = static_cast<uint32_t>(end.byte - start_.byte);
  p.size = frames.data(p.payload, p.starts_message);
  if (nxt_.psn < highest_) sent_again_ += p.payload;
  nxt_ = {nxt_.psn + 1, nxt_.byte + p.payload};
  highest_ = std::max(highest_, nxt_.psn);
  p.ends_message = nxt_.psn == end.psn;
  if (p.ends_message) {
    ++sending_;
    start_ = end;
  }
  next_avail_ = now + tick.serialise(p.size + frames.gap, rate());
  if (timeout_at_.is_never()) restart_timeout(now);
}

size_t SendQp::on_ack(int64_t expected, SimTime now) {
  if (expected <= una_.psn) return 0;
  retries_left_ = s_.retries;
  size_t completed = 0;
  for (; !ends_.empty() && ends_.front().psn <= expected; ++completed) {
    completed_ = ends_.front();
    ends_.pop_front();
  }
  una_ = {expected, completed_.byte + (expected - completed_.psn) * s_.mtu};
  restart_timeout(now);
  // After going back, an ACK of what was sent before may pass what is being sent again.
  if (nxt_.psn < una_.psn) nxt_ = una_;
  if (completed > sending_) {
    sending_ = 0;
    start_ = completed_;
  } else {
    sending_ -= completed;
  }
  return completed;
}

size_t SendQp::on_nack(int64_t expected, SimTime now) {
  const size_t completed = on_ack(expected, now);
  if (expected == una_.psn) go_back();
  return completed;
}

void SendQp::on_cnp(SimTime now) {
  if (reaction_) reaction_->on_cnp(now);
}

void SendQp::start_anew() {
  MRDMA_CHECK(idle());
  if (s_.reaction) reaction_.emplace(*s_.reaction, line_rate_);
  next_avail_ = {};
}

SimTime SendQp::next_timer() const {
  return reaction_ ? std::min(timeout_at_, reaction_->next_timer()) : timeout_at_;
}

void SendQp::run_timers(SimTime now) {
  if (reaction_) reaction_->run(now);
  if (timeout_at_ > now) return;
  timeout_at_ = SimTime::never();
  if (retries_left_-- == 0) {
    failed_ = true;
    return;
  }
  go_back();
}

void SendQp::go_back() {
  nxt_ = una_;
  sending_ = 0;
  start_ = completed_;
}

void SendQp::restart_timeout(SimTime now) {
  timeout_at_ = s_.recovers && una_.psn < highest_ ? now + s_.timeout : SimTime::never();
}

}  // namespace matchrdma::sim
