#include "host/control/control_session.h"

#include <algorithm>
#include <utility>

namespace matchrdma::host {
namespace {

std::string seconds(Duration d) {
  const int64_t tenths = d.ns / 100'000'000;
  return std::to_string(tenths / 10) + (tenths % 10 != 0 ? "." + std::to_string(tenths % 10) : "") + " s";
}

}  // namespace

ControlSession::ControlSession(const ControlHello& ours, const SessionTimes& times, Instant now)
    : ours_(ours), times_(times), greeting_ends_(now + times.hello), heard_(now), spoke_(now) {
  MRDMA_CHECK(encode(ours_, output_));
}

bool ControlSession::wants_input() const {
  const bool talking = state_ == State::kGreeting || state_ == State::kOpen;
  return talking && inbox_.size() < kInboxLimit && output_.size() - sent_ < kOutputLimit;
}

void ControlSession::receive(Bytes bytes, Instant now) {
  input_.insert(input_.end(), bytes.begin(), bytes.end());
  size_t at = 0;
  while (state_ != State::kOver && !deaf_) {
    const Bytes rest = Bytes(input_).subspan(at);
    const auto frame = frame_at(rest);
    if (!frame) break;
    if (frame->body > kMaxControlBody) {
      fault("announced a message of " + std::to_string(frame->body) + " bytes; " +
                std::to_string(kMaxControlBody) + " are allowed",
            now);
      break;
    }
    if (rest.size() < kControlHeaderBytes + frame->body) break;
    at += kControlHeaderBytes + frame->body;
    auto m = decode(frame->type, rest.subspan(kControlHeaderBytes, frame->body));
    if (m) {
      ++n_.messages;
      heard_ = now;
      take(std::move(*m), now);
    } else if (known(frame->type) || state_ == State::kGreeting) {
      fault("sent a message of type " + std::to_string(frame->type) + " that breaks its layout", now);
    } else {
      ++n_.unknown_type;
      heard_ = now;
    }
  }
  input_.erase(input_.begin(), input_.begin() + static_cast<std::ptrdiff_t>(at));
  if (state_ == State::kOver || deaf_) input_.clear();
}

void ControlSession::take(ControlMessage m, Instant now) {
  if (auto* bye = std::get_if<Bye>(&m)) {
    if (state_ == State::kEnding) return over(reason_, orderly_);
    over("the other end " + std::string(bye->fault ? "broke off: " : "said good-bye: ") + bye->reason,
         !bye->fault);
  } else if (state_ == State::kEnding) {
    return;
  } else if (auto* hello = std::get_if<ControlHello>(&m)) {
    greet(std::move(*hello), now);
  } else if (state_ == State::kGreeting) {
    fault("did not begin with a HELLO", now);
  } else if (const auto* ping = std::get_if<Ping>(&m)) {
    queue(Pong{ping->number}, now);
  } else if (const auto* pong = std::get_if<Pong>(&m); pong != nullptr && pong->number < kUpperPing) {
    if (pong->number != pings_) return;  // an old one: it waited here, not on the way
    const Duration took = now - asked_;
    round_trip_ = round_trip_ ? std::min(*round_trip_, took) : took;
  } else {
    inbox_.push_back(std::move(m));
  }
}

void ControlSession::greet(ControlHello hello, Instant now) {
  if (state_ != State::kGreeting) return fault("sent a second HELLO", now);
  if (hello.version != kControlVersion) {
    return fault("speaks version " + std::to_string(hello.version) +
                     " of the control protocol, this end (release " + ours_.library + ") version " +
                     std::to_string(kControlVersion) + ": install the same release of the library at both ends",
                 now);
  }
  peer_ = std::move(hello);
  state_ = State::kOpen;
}

void ControlSession::advance(Instant now) {
  if (state_ == State::kGreeting && now >= greeting_ends_)
    return fault("sent no HELLO within " + seconds(times_.hello), now);
  if (state_ == State::kOpen) {
    // Who does not listen cannot complain of silence.
    if (!wants_input()) heard_ = now;
    if (now - heard_ >= times_.silence)
      return fault(
          "has said nothing for " + seconds(now - heard_) + ": its process hangs, is gone, or the way is cut",
          now);
    if (now - spoke_ >= times_.ping) {
      asked_ = now;
      queue(Ping{++pings_}, now);
    }
  }
  if (state_ == State::kEnding && now >= bye_ends_) over(reason_, orderly_);
}

Instant ControlSession::next_wakeup() const {
  switch (state_) {
    case State::kGreeting:
      return greeting_ends_;
    case State::kOpen:
      return earlier(heard_ + times_.silence, spoke_ + times_.ping);
    case State::kEnding:
      return bye_ends_;
    case State::kOver:
      break;
  }
  return Instant::never();
}

void ControlSession::sent(size_t bytes) {
  MRDMA_CHECK(bytes <= output_.size() - sent_);
  sent_ += bytes;
  if (sent_ == output_.size()) {
    output_.clear();
    sent_ = 0;
  } else if (sent_ >= kOutputLimit / 2) {
    output_.erase(output_.begin(), output_.begin() + static_cast<std::ptrdiff_t>(sent_));
    sent_ = 0;
  }
}

bool ControlSession::send(const ControlMessage& m, Instant now) {
  if (state_ != State::kOpen || output_.size() - sent_ >= kOutputLimit || std::holds_alternative<Bye>(m) ||
      std::holds_alternative<ControlHello>(m) || !encode(m, output_))
    return false;
  spoke_ = now;
  return true;
}

std::optional<ControlMessage> ControlSession::next() {
  if (inbox_.empty()) return std::nullopt;
  ControlMessage m = std::move(inbox_.front());
  inbox_.pop_front();
  return m;
}

void ControlSession::queue(const ControlMessage& m, Instant now) {
  MRDMA_CHECK(encode(m, output_));
  spoke_ = now;
}

void ControlSession::end(const std::string& reason, Instant now) {
  if (state_ != State::kEnding && state_ != State::kOver) say_bye(false, reason, now);
}

void ControlSession::fault(const std::string& what, Instant now) {
  deaf_ = true;
  if (state_ == State::kEnding) return;
  reason_ = "the other end " + what;
  say_bye(true, what, now);
}

void ControlSession::say_bye(bool is_fault, const std::string& reason, Instant now) {
  queue(Bye{is_fault, sayable(is_fault ? "your end " + reason : reason)}, now);
  if (!is_fault) reason_ = "this end said good-bye: " + reason;
  orderly_ = !is_fault;
  state_ = State::kEnding;
  bye_ends_ = now + times_.bye;
}

void ControlSession::lost(const std::string& reason) {
  if (state_ == State::kOver) return;
  const bool ending = state_ == State::kEnding;
  over(ending ? reason_ : reason, ending && orderly_);
}

void ControlSession::over(const std::string& reason, bool orderly) {
  // `reason` may be reason_ itself.
  if (&reason != &reason_) reason_ = reason;
  orderly_ = orderly;
  state_ = State::kOver;
  output_.clear();
  sent_ = 0;
}

}  // namespace matchrdma::host
