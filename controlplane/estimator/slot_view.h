#pragma once
// What the estimator says about a slot: the budget, and every term it came from.
#include <cstdint>

#include "controlplane/estimator/aligned_lags.h"
#include "controlplane/estimator/forecast.h"
#include "controlplane/estimator/level.h"
#include "controlplane/estimator/rate_window.h"
#include "controlplane/estimator/sample.h"
#include "dataplane/base/time.h"
#include "dataplane/base/types.h"

namespace matchrdma {

/// What goes to the source (PROTOCOL 6, BUDGET).
struct GrantedBudget {
  Rate rate;
  Duration validity;
  uint64_t seq = 0;  ///< rises by one with every order of the group
};

/// Why the budget is what it is. Rates in Gb/s, volumes in bytes, times in slots.
struct SlotWhy {
  int64_t slot = 0;
  int horizon = 0;  ///< h: the budget governs slot + h
  CongestionLevel level = CongestionLevel::kLow;
  bool level_stale = false;  ///< of an earlier slot
  bool draining = false;     ///< to see the least ACK delay
  double min_delay_ns = 0;
  double arrived = 0;    ///< Gb/s
  uint64_t backlog = 0;  ///< own queue when the slot ended
  RateSample sample;
  double governing = 0;  ///< budget of this slot's arrivals; 0: none
  WindowKind window = WindowKind::kNone;
  double c = 0;
  bool probed = false;    ///< c was raised in this slot
  double probe_step = 0;  ///< that the next raise will take
  double period = 0;      ///< P; 0: none
  AlignedLags::Lags lags{};
  Predictions predictions{};  ///< of slot + h
  Predictions errors{};
  std::array<double, kPredictors> weights{};
  double forecast = 0;   ///< R_h
  double tested = 0;     ///< the most that a budget may be
  double queue = 0;      ///< q: own backlog and the receiver's network
  double projected = 0;  ///< q when the budget begins to govern
  double wanted = 0;     ///< budget before the port's other groups were asked
  double granted = 0;
  double tightened = 0;  ///< what a budget out of cycle said within this slot; 0: there was none
};

struct SlotOutput {
  GrantedBudget budget;
  SlotWhy why;
};

}  // namespace matchrdma
