#pragma once
// DCQCN's rate of one QP (SIMULATOR 2, "DCQCN reaction point").
#include <cstdint>

#include "sim/sim_time.h"

namespace matchrdma::sim {

/// Times and rates of the reaction point; rates in bits per second.
struct ReactionSettings {
  double gain = 1.0 / 256;               ///< g
  SimSpan alpha_interval{};              ///< T_a
  SimSpan decrease_interval{};           ///< T_d
  SimSpan increase_interval{};           ///< T_i
  int fast_recovery_stages = 1;          ///< F
  double additive_increase = 0;          ///< R_AI
  double hyper_increase = 0;             ///< R_HAI
  double least_rate = 0;                 ///< R_min
  bool clamp_target = false;             ///< CLAMP: each cut lowers the target too
  static ReactionSettings hpcc();        ///< `dcqcn` of HPCC at 100 Gb/s
  static ReactionSettings hpcc_paper();  ///< `dcqcn_paper` of HPCC
  static ReactionSettings themis();      ///< THEMIS and SimAI
};

/// Duty: from CNPs and time to a rate. Time is an argument; next_timer() says when run() has something to do.
/// Alpha decays by a timer that nobody watches: it is brought up to date when it is needed.
class ReactionPoint {
 public:
  /// line_rate: bits per second, where every QP starts (no slow start).
  ReactionPoint(const ReactionSettings& settings, double line_rate)
      : s_(settings), line_(line_rate), rate_(line_rate), target_(line_rate) {}

  void on_cnp(SimTime now);
  SimTime next_timer() const { return cut_at_ < raise_at_ ? cut_at_ : raise_at_; }
  /// Does what is due at `now`.
  void run(SimTime now);

  double rate() const { return rate_; }
  double target() const { return target_; }
  /// As of the last CNP or cut.
  double alpha() const { return alpha_; }

 private:
  void update_alpha(SimTime now);
  void cut(SimTime now);
  void raise(SimTime now);

  ReactionSettings s_;
  double line_, rate_, target_;
  double alpha_ = 1;
  bool started_ = false;               ///< the first CNP has come
  SimTime alpha_at_{};                 ///< end of the interval that runs
  bool cnp_in_interval_ = false;       ///< of alpha
  SimTime check_origin_{};             ///< checks are at this time plus multiples of T_d
  SimTime cut_at_ = SimTime::never();  ///< next check, if a CNP waits for it
  SimTime raise_at_ = SimTime::never();
  int stage_ = 0;
  bool raised_since_cut_ = true;
};

}  // namespace matchrdma::sim
