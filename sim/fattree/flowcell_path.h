#pragma once
// What a sender knows of one of its paths, and the rules that follow from it: the size of a cell, which path
// gets the next one, when a path is under suspicion. Pure arithmetic: this is the part that the simulator's
// model and a host library must agree on.
#include <algorithm>
#include <cstdint>

#include "dataplane/base/time.h"

namespace matchrdma::sim {

struct FlowcellRule {
  uint32_t mtu = 4096;            ///< payload bytes; a cell is whole packets, but for the last
  int64_t least_cell = 32 << 10;  ///< bytes, and what a path starts with
  int64_t most_cell = 8 << 20;    ///< bytes
  /// Of T_soft over the average: more than a cell lasts on a QP that DCQCN holds at its least rate.
  Duration least_floor = Duration::millis(10);
  Duration memory = Duration::micros(200);  ///< what was seen of a path counts for 1/e after so long
};

/// Of one cell, kept by the sender until its token comes.
struct CellPost {
  Instant at{};
  int64_t bytes = 0;
  int64_t ahead = 0;  ///< bytes outstanding on the path, with this cell
};

/// Duty: round-trip times, rate and expectations of one path. Does not know which cells they are.
class FlowcellPath {
 public:
  /// line_bps: the NIC's rate, bits per second; no path is thought to be faster.
  FlowcellPath(const FlowcellRule& rule, double line_bps) : rule_(rule), line_(line_bps), rate_(line_bps) {}

  CellPost post(int64_t bytes, Instant now) {
    outstanding_ += bytes;
    return {now, bytes, outstanding_};
  }

  /// The token of the oldest outstanding cell, which the receiver held for `residence`. `sample`: the cell was
  /// not sent twice, so its time says something.
  void token(const CellPost& cell, Duration residence, Instant now, bool sample) {
    outstanding_ -= cell.bytes;
    if (sample) {
      learn_rate(cell, now);
      learn_time(now - cell.at - residence);
      const Duration delay = now - cell.at - residence - time_of(cell.ahead, rate_);
      delay_ = std::max(delay, Duration{});
      base_ = measured_ ? std::min(base_, delay_) : delay_;
      measured_ = true;
      sampled_ = now;
    }
    last_token_ = now;
  }

  /// How long a cell of `bytes` posted now would take until its token. `oldest`: post of the oldest outstanding
  /// cell; now, if there is none. Of a path without samples it is the least that is possible, so that it gets
  /// one.
  Duration expected(int64_t bytes, Instant oldest, Instant now) const {
    const double trust = memory(now);
    const double rate = line_ - (line_ - rate_) * trust;
    const auto excess = static_cast<double>((delay_ - base_).ns) * trust;
    const Duration fresh = base_ + Duration{static_cast<int64_t>(excess)} + time_of(outstanding_ + bytes, rate);
    // What is already overdue will not be there sooner than what it has waited.
    return std::max(fresh, now - oldest + time_of(bytes, rate));
  }

  /// 1.5 bandwidth-delay products, at most a quarter of the round-trip time at the measured rate. The least
  /// time that was seen, not the average: waiting must not make cells larger.
  int64_t cell_bytes() const {
    if (!measured_) return rule_.least_cell;
    const double bdp = line_ / 8e9 * static_cast<double>(base_.ns);
    const double quarter = rate_ / 8e9 * static_cast<double>(base_.ns) / 4;
    const auto wanted = static_cast<int64_t>(std::min(1.5 * bdp, quarter));
    return std::clamp(wanted, rule_.least_cell, rule_.most_cell) / rule_.mtu * rule_.mtu;
  }

  /// After so long without its token a cell's path is under suspicion.
  Duration t_soft() const {
    if (!measured_) return rule_.least_floor;
    const Duration floor = std::max(average_ / 2, rule_.least_floor);
    return std::max(average_ + deviation_ * 4, average_ + floor);
  }

  bool measured() const { return measured_; }
  int64_t outstanding() const { return outstanding_; }  ///< bytes
  double rate() const { return rate_; }                 ///< bits per second
  Duration average() const { return average_; }
  Duration deviation() const { return deviation_; }

 private:
  static Duration time_of(int64_t bytes, double bps) {
    return {static_cast<int64_t>(static_cast<double>(bytes) * 8e9 / bps)};
  }
  /// Tokens of cells that stood one behind the other come as far apart as the path needs for a cell.
  void learn_rate(const CellPost& cell, Instant now) {
    if (last_token_ <= cell.at || now <= last_token_) return;
    const double seen = static_cast<double>(cell.bytes) * 8e9 / static_cast<double>((now - last_token_).ns);
    rate_ += (std::min(seen, line_) - rate_) / 4;
  }
  void learn_time(Duration rtt) {
    if (!measured_) {
      average_ = rtt;
      deviation_ = rtt / 2;
      return;
    }
    const Duration off = std::max(rtt - average_, average_ - rtt);
    average_ = average_ + (rtt - average_) / 8;
    deviation_ = deviation_ + (off - deviation_) / 4;
  }
  /// 1 right after a sample, then less: a quotient instead of the exponential, with its value at `memory`.
  double memory(Instant now) const {
    const double age = static_cast<double>((now - sampled_).ns) / static_cast<double>(rule_.memory.ns);
    return 1 / (1 + 1.718 * age);
  }

  FlowcellRule rule_;
  double line_, rate_;
  int64_t outstanding_ = 0;
  bool measured_ = false;
  Duration average_{}, deviation_{};
  Duration delay_{}, base_{};  ///< last and least time without the bytes' own
  Instant sampled_{}, last_token_{};
};

}  // namespace matchrdma::sim
