#pragma once
// Everything that a capture tells of the packets to one queue pair.
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "dataplane/base/time.h"
#include "dataplane/flow/flow_key.h"
#include "dataplane/wire/frame.h"
#include "pcap/seq_window.h"

namespace matchrdma {

/// One direction: what one host sends to one QP of another, in one life of that QP. For RC it carries that
/// host's requests and its answers to requests of the other direction (the partner stream).
struct TraceStream {
  FlowKey key;
  uint64_t first_index = 0;  ///< place of its first packet in the file
  int life = 0;              ///< of its key, from 0
  int previous_life = -1;    ///< stream of the same key before this one
  Transport transport = Transport::kRc;

  // requests, as captured
  uint64_t request_packets = 0;  ///< retransmissions included
  uint64_t messages = 0;         ///< distinct
  uint64_t bytes = 0;            ///< payload of request packets
  bool started = false;          ///< a request was seen
  Seq first = 0;                 ///< lowest PSN seen
  Seq end = 0;                   ///< behind the newest request
  Seq reach = 0;                 ///< behind the farthest PSN a READ may occupy
  uint32_t full_payload = 0;  ///< payload of FIRST and MIDDLE packets, READ responses among them: the path MTU
  uint32_t largest_payload = 0;
  std::optional<uint16_t> request_port, answer_port;
  bool one_port = true;           ///< all its packets came from one UDP port
  std::optional<Qpn> source_qpn;  ///< UD: in every packet
  bool reused = false;            ///< RC: the QP had another life in this capture

  // what pairing found
  int partner = -1;           ///< the likeliest
  bool sure = false;          ///< the partner cannot be another
  const char* evidence = "";  ///< how the partner was found, or why not
  uint32_t path_mtu = 0;      ///< 0: unknown
  int64_t msn_before = 0;     ///< messages completed before `first`
  bool credits = false;       ///< its receiver counts credits
};

/// `f` was sent in this stream: its source port goes to `port`, one of the two of `s`.
void note_port(TraceStream& s, std::optional<uint16_t>& port, const Frame& f);

/// Duty: follows the requests of one stream in file order: which PSNs are new, which end a message or ask for
/// an ACK, and how many messages were complete at each of these.
class RequestTrack {
 public:
  /// A place where an ACK is likely.
  struct Point {
    uint64_t messages = 0;  ///< up to and with this PSN
    bool ends = false;
  };
  void request(TraceStream& s, const Frame& f, Instant time);
  /// A step back that a sender may only make in another life, if PSN `to` was acknowledged before it.
  struct StepBack {
    uint32_t count = 0;  ///< how many there were
    Seq to = 0;          ///< of the newest
  };
  const StepBack& step_back() const { return step_back_; }
  /// Messages complete with PSN `seq`; none when nothing is remembered of it.
  std::optional<uint64_t> messages_at(Seq seq);
  /// Whether `seq` ended a message or asked for an ACK.
  bool is_point(Seq seq) { return points_.find(seq) != nullptr; }

 private:
  struct Read {
    Seq seq;
    uint64_t va;
    uint32_t length, rkey;
  };
  static constexpr size_t kPoints = 1024, kReads = 256;
  bool is_read_retry(const Frame& f, Seq seq) const;
  void late_message_end(TraceStream& s, Seq seq);
  void note_lives(const TraceStream& s, const Frame& f, Seq seq, Instant time);
  void read_request(TraceStream& s, const Frame& f, Seq seq);

  SeqWindow<Point> points_;
  bool forgot_ = false;  ///< points at the front are gone
  StepBack step_back_;
  Instant newest_;  ///< time of the newest request
  std::deque<Read> reads_;
};

}  // namespace matchrdma
