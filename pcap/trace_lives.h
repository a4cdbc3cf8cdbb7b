#pragma once
// Where a queue pair of a capture begins to live anew: same addresses and QPNs, perhaps another partner.
#include "pcap/trace_stream.h"

namespace matchrdma {

/// Duty: watches one life of the packets to one QP and says which packet cannot belong to it. Does not know
/// partners. What it is not sure of belongs to the same life.
class LifeWatch {
 public:
  /// `s`: what RequestTrack knows of this life so far.
  bool is_another(const TraceStream& s, const Frame& f, Instant time);
  void note(const TraceStream& s, const Frame& f, Instant time);

 private:
  bool other_request(const TraceStream& s, const Frame& f);
  bool other_answer(const Frame& f, Instant time) const;

  SeqWindow<uint64_t> contents_;   ///< of messages by the PSN they begin at: the newest
  SeqWindow<uint64_t> beginning_;  ///< the same of the first ones
  uint16_t request_port_ = 0, answer_port_ = 0;
  int64_t msn_ = -1;
  Instant answered_;  ///< time of the newest answer with an MSN
};

}  // namespace matchrdma
