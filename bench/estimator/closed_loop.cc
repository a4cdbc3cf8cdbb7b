#include "bench/estimator/closed_loop.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "dataplane/destination/reactive_egress.h"

namespace matchrdma::estimator_bench {
namespace {

constexpr double kLine = 100;            // Gb/s
constexpr int64_t kDcQueue = 1'000'000;  // bytes in the receiver's network
constexpr int64_t kCnpAbove = 400'000;   // bytes
constexpr Duration kCnpInterval = Duration::micros(50);
constexpr double kBaseDelayNs = 10'000;  // ACK delay of an empty network
constexpr double kMaxDelayNs = 20e6;
constexpr double kBusyDelay = 1.2;                     // of the least one
constexpr double kPacket = 4100;                       // bytes
constexpr int64_t kTraces = 312;                       // bytes: less than this in the network's queue is none
constexpr double kFirstBudget = 20;                    // Gb/s, before the destination has said anything
constexpr double kAckedNs = 50'000;                    // over which the acked rate of a flow is taken
constexpr Duration kLookEvery = Duration::micros(50);  // in the middle of a slot

/// Whole bytes of a rate, the fraction kept for the next step.
struct Metered {
  double rest = 0;
  int64_t take(double gbps) {
    rest += gbps * kStepNs / 8;
    const auto whole = static_cast<int64_t>(rest);
    rest -= static_cast<double>(whole);
    return whole;
  }
};

double mb(int64_t bytes) { return static_cast<double>(bytes) / 1e6; }

/// A sender that has what its demand gave it, within a rate.
struct Sender {
  Metered budget, line, demand;
  int64_t wants = 0;
  int64_t send(double gbps, const Rates& demands, size_t step) {
    const int64_t most = std::min(budget.take(gbps), line.take(kLine));
    if (demands.empty()) return most;
    wants += demand.take(static_cast<double>(demands[step]));
    const int64_t sent = std::min(wants, most);
    wants -= sent;
    return sent;
  }
};

/// Duty: the path from the source's gate to the receiver, step by step, in whole bytes.
class Loop {
 public:
  Loop(const Series& series, const LoopOptions& o, Contender& contender)
      : series_(series),
        o_(o),
        contender_(contender),
        delay_(static_cast<size_t>(std::max<int64_t>(1, o.one_way.ns / kStep.ns))),
        slot_steps_(static_cast<size_t>(o.slot.ns / kStep.ns)),
        horizon_(Scale({.slot = o.slot}).horizon(o.one_way)),
        steps_(static_cast<size_t>(kPlayed.ns / kStep.ns)),
        injected_(steps_),
        ideal_injected_(steps_),
        told_(steps_ + delay_ + slot_steps_ + 1, -1.F),
        beyond_(2 * delay_ + 2 * slot_steps_),
        truth_(static_cast<size_t>(horizon_)),
        capacity_until_(series.capacity.size() + 1) {
    for (size_t i = 0; i < series.capacity.size(); ++i) {
      capacity_until_[i + 1] = capacity_until_[i] + static_cast<double>(series.capacity[i]);
    }
  }

  LoopResult run(std::vector<LoopSlot>* trace) {
    for (size_t i = 0; i < steps_; ++i) {
      counts_ = i >= static_cast<size_t>(kWarmUp.ns / kStep.ns);
      step(i);
      ideal(i);
      if ((i + 1) % slot_steps_ == 0) {
        close_slot(i, trace);
      } else if ((i + 1) % static_cast<size_t>(kLookEvery.ns / kStep.ns) == 0) {
        look(i);
      }
    }
    result_.mean_mb = backlog_sum_ / backlog_steps_ / 1e6;
    result_.utilisation = 100 * static_cast<double>(delivered_) / static_cast<double>(ideal_delivered_);
    result_.weighted_error = capacity_sum_ > 0 ? 100 * error_sum_ / capacity_sum_ : 0;
    return result_;
  }

 private:
  Instant at(size_t step) const { return Instant{} + kStep * static_cast<int64_t>(step); }

  void step(size_t i) {
    if (told_[i] >= 0) budget_ = static_cast<double>(told_[i]);
    injected_[i] = sender_.send(budget_, series_.demand, i);
    const int64_t came = i >= delay_ ? injected_[i - delay_] : 0;
    queue_ += came;
    arrived_ += came;
    record_.arrived_bytes += static_cast<uint64_t>(came);

    const auto capacity = static_cast<double>(series_.capacity[i]);
    const int64_t can_ack = capacity_.take(capacity);
    const int64_t room = std::max<int64_t>(0, kDcQueue - network_) + can_ack;
    const int64_t free = std::min({queue_, line_.take(kLine), room});
    const int64_t paced = pace_.take(static_cast<double>(egress_.rate().bps) / 1e9);
    const int64_t sent = std::min(free, paced);
    queue_ -= sent;
    network_ += sent;
    left_ += sent;
    record_.egress_bytes += static_cast<uint64_t>(sent);
    const int64_t acked = std::min(network_, can_ack);
    network_ -= acked;
    acked_ += acked;
    receive(i, acked, capacity, paced < free);
    bound(came - can_ack);
    if (!counts_) return;
    result_.peak_mb = std::max(result_.peak_mb, mb(queue_));
    backlog_sum_ += static_cast<double>(queue_);
    backlog_steps_ += 1;
    delivered_ += acked;
  }

  /// ACKs and CNPs of this step, and what the egress stage makes of them.
  void receive(size_t i, int64_t acked, double capacity, bool held_back) {
    const double waits = capacity > 0 ? static_cast<double>(network_) * 8 / capacity : 0;
    const double delay = kBaseDelayNs + std::min(kMaxDelayNs, waits);
    acked_rate_ += (static_cast<double>(acked) * 8 / kStepNs - acked_rate_) * kStepNs / kAckedNs;
    record_.acked_bytes += static_cast<uint64_t>(acked);
    packets_ += static_cast<double>(acked) / kPacket;
    const bool busy = (network_ > kTraces && delay > kBusyDelay * kBaseDelayNs) || (queue_ > 0 && !held_back);
    if (acked > 0) record_.ack_delay.add(Duration::nanos(static_cast<int64_t>(delay)), at(i));
    if (busy) {
      record_.busy_ns += static_cast<uint64_t>(kStep.ns);
      record_.busy_acked_bytes += static_cast<uint64_t>(acked);
    }
    if (network_ > kCnpAbove && at(i) - last_cnp_ >= kCnpInterval) {
      last_cnp_ = at(i);
      ++record_.cnp_count;
      egress_.cnp(Rate{static_cast<int64_t>(acked_rate_ * 1e9)});
    }
    egress_.queue(static_cast<uint64_t>((delay - kBaseDelayNs) * acked_rate_ / 8));
  }

  /// What came in within 2D + 2 slots beyond what could have left.
  void bound(int64_t beyond) {
    beyond_sum_ += beyond - beyond_[beyond_at_];
    beyond_[beyond_at_] = beyond;
    beyond_at_ = (beyond_at_ + 1) % beyond_.size();
    if (counts_) result_.bound_mb = std::max(result_.bound_mb, mb(beyond_sum_));
  }

  /// The same receiver with a sender that nothing holds back.
  void ideal(size_t i) {
    ideal_injected_[i] = ideal_sender_.send(kLine, series_.demand, i);
    ideal_queue_ += i >= delay_ ? ideal_injected_[i - delay_] : 0;
    const int64_t acked =
        std::min(ideal_queue_, ideal_capacity_.take(static_cast<double>(series_.capacity[i])));
    ideal_queue_ -= acked;
    if (counts_) ideal_delivered_ += acked;
  }

  /// Of a slot that begins at this step, Gb/s; what is not in the series any more is as its last slot.
  double mean_capacity(size_t from) const {
    const size_t last = series_.capacity.size() - slot_steps_;
    const size_t first = std::min(from, last);
    return (capacity_until_[first + slot_steps_] - capacity_until_[first]) / static_cast<double>(slot_steps_);
  }

  void close_slot(size_t i, std::vector<LoopSlot>* trace) {
    if ((queue_ != arrived_ - left_ || network_ != left_ - acked_) && result_.broken.empty()) {
      result_.broken =
          series_.name + ", slot " + std::to_string(slot_) + ": backlog is not arrivals less departures";
    }
    record_.backlog_bytes = static_cast<uint64_t>(queue_);
    record_.unacked_bytes = static_cast<uint64_t>(network_);
    record_.packets = static_cast<uint64_t>(packets_);
    packets_ -= static_cast<double>(record_.packets);
    for (size_t j = 0; j < truth_.size(); ++j) truth_[j] = mean_capacity(i + 1 + j * slot_steps_);
    const Contender::Decision d = contender_.close(slot_, record_, truth_);
    tell(i, d.budget);
    const size_t governs = i + 1 + 2 * delay_;
    const double truth = mean_capacity(governs);
    if (counts_ && series_.scored) {
      error_sum_ += std::fabs(d.forecast - truth);
      capacity_sum_ += truth;
    }
    if (trace != nullptr) {
      trace->push_back({static_cast<double>((i + 1) * static_cast<size_t>(kStep.ns)) / 1e6, truth, d.forecast,
                        d.budget, mb(queue_)});
    }
    record_ = {};
    looked_ = {};
    ++slot_;
  }

  /// What was seen since the last look.
  void look(size_t i) {
    SlotRecord recent = record_.since(looked_);
    recent.backlog_bytes = static_cast<uint64_t>(queue_);
    recent.unacked_bytes = static_cast<uint64_t>(network_);
    recent.packets = static_cast<uint64_t>(static_cast<double>(recent.acked_bytes) / kPacket);
    looked_ = record_;
    double budget = -1;
    if (contender_.tighten(recent, kLookEvery, budget)) tell(i, budget);
  }

  void tell(size_t i, double budget) {
    if (budget >= 0) told_[i + 1 + delay_] = static_cast<float>(budget);
  }

  const Series& series_;
  const LoopOptions& o_;
  Contender& contender_;
  size_t delay_, slot_steps_;  ///< steps
  int horizon_;
  size_t steps_;
  std::vector<int64_t> injected_, ideal_injected_;
  std::vector<float> told_;  ///< budget that reaches the source in that step; below 0: none
  double budget_ = kFirstBudget;
  Sender sender_, ideal_sender_;
  Metered capacity_, line_, pace_, ideal_capacity_;
  ReactiveEgress egress_{Rate{static_cast<int64_t>(kLine * 1e9)}, 150'000};
  int64_t queue_ = 0, network_ = 0, ideal_queue_ = 0;  ///< bytes waiting: here, in the receiver's network
  int64_t arrived_ = 0, left_ = 0, acked_ = 0;
  double acked_rate_ = 0, packets_ = 0;
  Instant last_cnp_{-kCnpInterval.ns};
  SlotRecord record_, looked_;
  int64_t slot_ = 0;
  bool counts_ = false;
  std::vector<int64_t> beyond_;  ///< ring of the last 2D + 2 slots
  size_t beyond_at_ = 0;
  int64_t beyond_sum_ = 0;
  std::vector<double> truth_;           ///< of the slots to come
  std::vector<double> capacity_until_;  ///< sum of the steps before
  int64_t delivered_ = 0, ideal_delivered_ = 0;
  double backlog_sum_ = 0, backlog_steps_ = 0, error_sum_ = 0, capacity_sum_ = 0;
  LoopResult result_;
};

}  // namespace

LoopResult run_loop(const Series& series, const LoopOptions& options, Contender& contender,
                    std::vector<LoopSlot>* trace) {
  return Loop(series, options, contender).run(trace);
}

}  // namespace matchrdma::estimator_bench
