#pragma once
// What is still missing when the last packet of a message has been sent for the first time.
#include <cstdint>

#include "host/planner/owed.h"

namespace matchrdma::planner {

/// Packets that follow each other on the line, and what they owe when the last of them has been sent.
struct Group {
  int64_t packets = 0;
  Owed owed;
};

/// A message as groups on the line: `full` equal ones, then the last. Times are packet times.
struct Groups {
  int64_t round = 0;
  double loss = 0;
  Group each;
  int64_t full = 0;
  Group last;
  /// Share of the line that resends take once the first of them are due, one round after the beginning.
  double resend_share = 0;
  /// Resends before the last packet is sent for the first time: their mean.
  double resends_before_end = 0;

  int64_t packets() const { return full * each.packets + last.packets; }
  /// How many full groups have been sent `time` after the beginning.
  int64_t ended(double time) const;
  /// Resends of full groups until then, while new packets go on: their mean.
  double resends_until(double time) const;
};

/// Duty: the law of the time from the first sending of the last packet to the last success. Within a round
/// every place on the line comes back: what is lost there is repeated a round later.
class Tail {
 public:
  explicit Tail(Groups groups);

  /// Log of the chance that all has arrived `later` packet times after the last packet was sent, later >= 0.
  /// Groups that were repeated equally often are added up together: the cost does not grow with the message.
  double log_done(int64_t later) const;
  /// Mean, in packet times.
  double mean() const;

 private:
  double full_groups(int64_t later) const;
  double in_flight(int64_t later) const;
  double mean_of_round(int64_t first, int64_t pieces) const;
  /// How long before the last packet the end of a full group is, the first being number 1.
  int64_t before_end(int64_t group) const;

  Groups g_;
  Owed packet_;       ///< a resend on its way
  double end_;        ///< when the last packet has been sent
  int64_t earlier_;   ///< full groups whose first resends are before that
  double in_flight_;  ///< resends in the round before it
};

}  // namespace matchrdma::planner
