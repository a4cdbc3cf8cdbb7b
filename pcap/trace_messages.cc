#include "pcap/trace_messages.h"

#include <algorithm>

#include "pcap/seq_window.h"

namespace matchrdma {
namespace {

/// Duty: the messages that one stream asks for, by the PSN they begin at. A message may be seen in any order
/// and several times, as senders go back.
class MessageTrack {
 public:
  void request(const Frame& f, uint32_t path_mtu, Instant time) {
    const Seq seq = started_ ? place_psn(f.psn(), near_) : Seq{f.psn().v};
    started_ = true;
    near_ = std::max(near_, seq);
    if (f.opcode() == op::kRcReadReq) {
      if (!is_read_retry(f, seq, path_mtu)) begin(seq, f, time).last = seq;
    } else if (!f.info().read_class) {
      if (f.info().starts_message()) begin(seq, f, time);
      if (f.info().ends_message()) end(seq, f, time);
    }
  }

  void answer(const Frame& f, Instant time) {
    if (!started_) return;
    const Seq seq = place_psn(f.psn(), near_);
    if (f.opcode() == op::kRcAck) {
      // A NAK names what is missing: all before it has come (IBA 9.7.5.1.1).
      const bool positive = (f.aeth_syndrome() & 0x60) == kAethAck;
      return acknowledge(positive ? seq : seq - 1, time);
    }
    acknowledge(seq - 1, time);  // what is answered with data is answered after all that was sent before it
    if (f.opcode() != op::kRcReadRespLast && f.opcode() != op::kRcReadRespOnly) return;
    // The latest counts: one that came before it may have come behind a gap.
    auto* slot = messages_.at_or_below(seq);
    if (slot != nullptr && slot->value.read) slot->value.completed = time;
  }

  void append_to(TraceMessages& out, const TraceStream& s, uint32_t number) {
    for (size_t i = 0; i < messages_.size(); ++i) {
      const Message& m = messages_[i].value;
      if (m.last < 0) {
        ++out.cut_off;
        continue;
      }
      out.messages.push_back({.source = m.read ? s.key.dst : s.key.src,
                              .destination = m.read ? s.key.src : s.key.dst,
                              .qp = number,
                              .bytes = m.bytes,
                              .start = m.start,
                              .completed = m.completed,
                              .read = m.read});
    }
    for (size_t i = 0; i < orphans_.size(); ++i) {
      const auto* slot = messages_.at_or_below(orphans_[i].seq);
      if (slot == nullptr || slot->value.last < orphans_[i].seq) ++out.cut_off;
    }
  }

 private:
  struct Message {
    uint64_t bytes = 0, va = 0;
    uint32_t rkey = 0;
    uint32_t packet = 0;  ///< payload of its first one: of all but the last
    Seq last = -1;        ///< of its own packets; -1: not seen
    Instant start{}, completed = Instant::never();
    bool reth = false, read = false;
  };

  // A retry asks for the rest of the READ whose range it lies in.
  bool is_read_retry(const Frame& f, Seq seq, uint32_t path_mtu) {
    const auto* slot = messages_.at_or_below(seq);
    if (slot == nullptr || !slot->value.read || slot->value.rkey != f.reth_rkey()) return false;
    const Message& m = slot->value;
    const uint64_t skipped = f.reth_va() - m.va;
    const auto packets = static_cast<uint64_t>(seq - slot->seq);
    if (skipped + f.reth_length() != m.bytes || f.reth_length() == 0) return false;
    return path_mtu == 0 ? packets == 0 || skipped > 0 : skipped == packets * path_mtu;
  }

  Message& begin(Seq seq, const Frame& f, Instant time) {
    if (Message* known = messages_.find(seq); known != nullptr) return *known;
    Message& m = messages_.at(seq);
    m.packet = f.payload_length();
    m.start = time;
    m.read = f.opcode() == op::kRcReadReq;
    m.reth = f.info().reth;
    if (m.reth) {
      m.bytes = f.reth_length();
      m.va = f.reth_va();
      m.rkey = f.reth_rkey();
    }
    return m;
  }

  void end(Seq seq, const Frame& f, Instant time) {
    auto* slot = messages_.at_or_below(seq);
    if (slot == nullptr || slot->value.read || (slot->value.last >= 0 && slot->value.last < seq)) {
      orphans_.at(seq) = true;
      return;
    }
    Message& m = slot->value;
    if (m.last == seq) return;
    if (m.last > seq) orphans_.at(m.last) = true;  // it was another's, whose beginning has not been seen yet
    m.last = seq;
    if (!m.reth) m.bytes = static_cast<uint64_t>(seq - slot->seq) * m.packet + f.payload_length();
    // Nobody answers: a sender is done with it when it is out.
    if (f.info().transport == Transport::kUc) m.completed = time;
  }

  // Everything up to PSN `seq` has come.
  void acknowledge(Seq seq, Instant time) {
    for (; acknowledged_ < messages_.size() && messages_[acknowledged_].seq <= seq; ++acknowledged_) {
      Message& m = messages_[acknowledged_].value;
      if (m.read) continue;
      const bool seen = m.last >= 0 && m.last <= seq;
      const bool passed = acknowledged_ + 1 < messages_.size() && messages_[acknowledged_ + 1].seq <= seq;
      if (!seen && !passed) return;
      if (seen && m.completed.is_never()) m.completed = time;
    }
  }

  SeqWindow<Message> messages_;
  SeqWindow<bool> orphans_;  ///< ends whose message was not known
  size_t acknowledged_ = 0;  ///< messages that no later answer completes, READs apart
  Seq near_ = 0;
  bool started_ = false;
};

}  // namespace

Result<TraceMessages> read_messages(CaptureReader reader, const TraceFlows& flows) {
  const std::vector<TraceStream>& streams = flows.streams();
  std::vector<MessageTrack> tracks(streams.size());
  CaptureClock clock;
  CapturedPacket packet;
  while (reader.next(packet) == ReadStatus::kPacket) {
    const auto time = clock.steady(packet);
    if (!time) return Error{reader.name() + ": " + time.error()};
    if (flows.bad_icrc(packet.index).value_or(true)) continue;
    const ParseResult p = parse_frame(packet.data);
    const int stream = flows.stream_at(p, packet.index);
    if (stream < 0) continue;
    const TraceStream& s = streams[static_cast<size_t>(stream)];
    if (s.transport == Transport::kUd) continue;
    if (p.frame.info().request) {
      tracks[static_cast<size_t>(stream)].request(p.frame, s.path_mtu, *time);
    } else if (s.partner >= 0) {
      tracks[static_cast<size_t>(s.partner)].answer(p.frame, *time);
    }
  }
  if (reader.status() == ReadStatus::kError) return Error{reader.message()};
  TraceMessages out;
  for (size_t i = 0; i < tracks.size(); ++i) tracks[i].append_to(out, streams[i], static_cast<uint32_t>(i));
  std::stable_sort(out.messages.begin(), out.messages.end(),
                   [](const TraceMessage& a, const TraceMessage& b) { return a.start < b.start; });
  return out;
}

}  // namespace matchrdma
