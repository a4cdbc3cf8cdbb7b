#include "pcap/trace_lives.h"

#include <algorithm>

namespace matchrdma {
namespace {

/// A start below the first packet seen can only be the head of something retransmitted, not another life of the
/// QP.
constexpr Seq kLowerStart = 1 << 16;
/// No capture misses so many packets in a row.
constexpr Seq kHigherStart = 4096;
/// Nothing on its way to a tap is overtaken for so long.
constexpr Duration kNoDisorder = Duration::millis(1);
constexpr size_t kComparedPayload = 64, kRemembered = 1024, kBeginning = 64;

// What a sender repeats when it sends a message again. The payload of a WRITE may have changed meanwhile.
uint64_t content(const Frame& f) {
  uint64_t h = 0xcbf29ce484222325ull ^ f.payload_length();
  const auto mix = [&h](Bytes bytes) {
    for (const uint8_t b : bytes) h = (h ^ b) * 0x100000001b3ull;
  };
  mix(f.extension_headers());
  if (!f.info().reth) mix(f.payload().first(std::min<size_t>(f.payload_length(), kComparedPayload)));
  return h;
}

}  // namespace

bool LifeWatch::is_another(const TraceStream& s, const Frame& f, Instant time) {
  return f.info().request ? other_request(s, f) : other_answer(f, time);
}

bool LifeWatch::other_request(const TraceStream& s, const Frame& f) {
  if (!s.started) return false;
  const Seq seq = unwrap24(f.psn().v, s.end);
  if (seq - std::max(s.end, s.reach) > kHigherStart || s.first - seq >= kLowerStart) return true;
  if (seq >= s.end || !f.info().starts_message()) return false;
  // A step back: the same message again, or another one under an old number.
  for (SeqWindow<uint64_t>* known : {&contents_, &beginning_})
    if (const uint64_t* c = known->find(seq); c != nullptr) return *c != content(f);
  return f.udp_source_port() != request_port_ && request_port_ != 0;
}

// IBA 9.7.5.1.1: MSNs only grow while a QP lives.
bool LifeWatch::other_answer(const Frame& f, Instant time) const {
  if (!f.info().aeth || msn_ < 0 || time - answered_ <= kNoDisorder) return false;
  const int64_t msn = unwrap24(f.aeth_msn().v, msn_);
  return msn < msn_ || (msn == msn_ && f.udp_source_port() != answer_port_ && f.aeth_msn().v <= 1);
}

void LifeWatch::note(const TraceStream& s, const Frame& f, Instant time) {
  if (!f.info().request) {
    answer_port_ = f.udp_source_port();
    if (!f.info().aeth) return;
    msn_ = msn_ < 0 ? int64_t{f.aeth_msn().v} : std::max(msn_, unwrap24(f.aeth_msn().v, msn_));
    answered_ = later(answered_, time);
    return;
  }
  request_port_ = f.udp_source_port();
  if (!f.info().starts_message()) return;
  const Seq seq = unwrap24(f.psn().v, s.end - 1);
  if (beginning_.size() < kBeginning && beginning_.find(seq) == nullptr) beginning_.at(seq) = content(f);
  contents_.at(seq) = content(f);
  if (contents_.size() > kRemembered) contents_.pop_front();
}

}  // namespace matchrdma
