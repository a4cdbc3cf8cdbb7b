#include "pcap/trace_stream.h"

#include <algorithm>

namespace matchrdma {
namespace {

constexpr uint32_t kSmallestMtu = 256;
/// No sender waits so long before it repeats what was acknowledged.
constexpr Duration kLivesApart = Duration::seconds(1);

}  // namespace

// A retry asks for the rest of an earlier READ: it ends at the same address and begins whole packets later.
// Only the addresses tell, since the path MTU is not known yet.
bool RequestTrack::is_read_retry(const Frame& f, Seq seq) const {
  return std::any_of(reads_.begin(), reads_.end(), [&](const Read& r) {
    const uint64_t skipped = f.reth_va() - r.va;
    const Seq packets = seq - r.seq;
    return packets > 0 && r.rkey == f.reth_rkey() && skipped + f.reth_length() == r.length &&
           skipped % static_cast<uint64_t>(packets) == 0 &&
           skipped / static_cast<uint64_t>(packets) >= kSmallestMtu;
  });
}

void RequestTrack::read_request(TraceStream& s, const Frame& f, Seq seq) {
  s.reach = std::max(s.reach, seq + std::max<Seq>(1, (Seq{f.reth_length()} + kSmallestMtu - 1) / kSmallestMtu));
  reads_.push_back({seq, f.reth_va(), f.reth_length(), f.reth_rkey()});
  if (reads_.size() > kReads) reads_.pop_front();
}

// The capture had lost it the first time.
void RequestTrack::late_message_end(TraceStream& s, Seq seq) {
  if (forgot_ && (points_.empty() || seq < points_.front().seq)) return;
  if (const Point* p = points_.find(seq); p != nullptr && p->ends) return;
  const auto* earlier_point = points_.at_or_below(seq);
  const uint64_t before = earlier_point == nullptr ? 0 : earlier_point->value.messages;
  points_.at(seq) = {before, true};
  ++s.messages;
  for (size_t i = 0; i < points_.size(); ++i)
    if (points_[i].seq >= seq) ++points_[i].value.messages;
}

void note_port(TraceStream& s, std::optional<uint16_t>& port, const Frame& f) {
  const auto& other = s.request_port ? s.request_port : s.answer_port;
  if (other && *other != f.udp_source_port()) s.one_port = false;
  port = f.udp_source_port();
}

void RequestTrack::note_lives(const TraceStream& s, const Frame& f, Seq seq, Instant time) {
  if (seq < s.end && (f.info().first || f.info().only) && time - newest_ > kLivesApart)
    step_back_ = {step_back_.count + 1, seq};
}

void RequestTrack::request(TraceStream& s, const Frame& f, Instant time) {
  const OpcodeInfo& info = f.info();
  ++s.request_packets;
  s.bytes += f.payload_length();
  s.largest_payload = std::max(s.largest_payload, f.payload_length());
  if (info.first || info.middle) s.full_payload = std::max(s.full_payload, f.payload_length());
  note_port(s, s.request_port, f);
  if (info.transport != Transport::kRc) {
    if (info.ends_message()) ++s.messages;
    return;
  }
  if (!s.started) {
    s.started = true;
    s.first = s.end = s.reach = f.psn().v;
    newest_ = time;
  }
  const Seq seq = place_psn(f.psn(), s.end);
  note_lives(s, f, seq, time);
  newest_ = later(newest_, time);
  const bool read = info.read_class && info.reth;
  const bool ends = info.ends_message() || info.read_class;
  if (seq < s.end) {
    s.first = std::min(s.first, seq);
    if (ends && !read) late_message_end(s, seq);
    return;
  }
  const bool retry = read && is_read_retry(f, seq);
  if (read) read_request(s, f, seq);
  s.reach = std::max(s.reach, seq + 1);
  if (retry) return;
  s.end = seq + 1;
  if (ends) ++s.messages;
  if (ends || f.ack_req()) {
    points_.at(seq) = {s.messages, ends};
    if (points_.size() > kPoints) {
      points_.pop_front();
      forgot_ = true;
    }
  }
}

std::optional<uint64_t> RequestTrack::messages_at(Seq seq) {
  const auto* slot = points_.at_or_below(seq);
  if (slot == nullptr) return std::nullopt;
  return slot->value.messages;
}

}  // namespace matchrdma
