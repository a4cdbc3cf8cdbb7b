#pragma once
// The same schemes played packet by packet, to check the formulas. Shares no formula with them.
#include <cstdint>
#include <deque>
#include <vector>

#include "dataplane/base/prng.h"
#include "host/planner/line.h"

namespace matchrdma::planner {

class Completion;

/// Which packets are lost: each with the same chance. Draws the number of packets until the next one.
class Losses {
 public:
  Losses(double chance, uint64_t seed);
  bool next_is_lost() { return until_next_-- == 0 && draw(); }

 private:
  bool draw();
  double log_arrives_;
  Prng random_;
  int64_t until_next_ = 0;
};

/// Duty: one message after the other over one line, from the first packet to the last success. Resends that are
/// due go before new packets.
class EventModel {
 public:
  EventModel(const Link& link, uint64_t message_bytes, const Scheme& scheme, uint64_t seed);

  /// Packet times that the next message takes: compare Completion::cdf_packet_times.
  int64_t next();
  /// Packets that the last message put on the line.
  int64_t packets_sent() const { return sent_; }

 private:
  int64_t repeat_selectively();
  int64_t go_back();
  void send_new();
  void send_coded(bool lost);
  void end_group();

  Line line_;
  Scheme scheme_;
  Losses losses_;
  // Of the message that is being sent:
  int64_t now_ = 0;              ///< packet times
  int64_t done_ = 0;             ///< when the last success was, or the end of the last group
  int64_t new_ = 0, sent_ = 0;   ///< data packets begun, packets on the line
  std::deque<int64_t> resends_;  ///< when each is due to end
  // Of the group that is being sent:
  int64_t group_data_ = 0, group_sent_ = 0;
  std::vector<uint32_t> lost_;  ///< by codeword
};

/// max |P(T <= t) by formula - share of the messages played|, over all t. `played`: from EventModel::next.
double largest_difference(const Completion& formula, std::vector<int64_t> played);
/// What the difference may be: 3 %, or, of few messages, what chance alone makes of equal laws (once in a
/// million, Dvoretzky, Kiefer and Wolfowitz 1956).
double allowed_difference(uint64_t messages);

}  // namespace matchrdma::planner
