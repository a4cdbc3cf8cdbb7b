#pragma once
// Workload W3: messages of many sizes between the sites and within them (SIMULATOR 5 and 7, "3e FCT").
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/workload/mixed_traffic.h"
#include "sim/workload/workload.h"

namespace matchrdma::sim {

/// Duty: posts the arrivals of a list at their times, each on a QP of its pair that has nothing to do, so that
/// a message behaves as the forks' flow does, which is a QP of its own. Where all of them are busy it waits
/// behind the least bytes. Ends when all messages are through.
class MixedWorkload final : public Workload, private EventHandler {
 public:
  MixedWorkload(Network& network, const MixedSettings& settings)
      : Workload(network), s_(settings), arrivals_(draw_arrivals(settings)) {}

  void open(const Open& open) override;
  void start() override;
  bool done() const override { return next_ == arrivals_.size() && outstanding() == 0; }

  const std::vector<Arrival>& arrivals() const { return arrivals_; }
  /// Messages that found no idle QP.
  size_t queued() const { return queued_; }

 private:
  /// QPs of a pair are flows with numbers in a row.
  struct Qps {
    uint32_t first = 0, count = 0;
  };
  using Pair = std::pair<uint32_t, uint32_t>;
  uint32_t least_busy(const Qps& qps) const;
  void wait_for_next();
  void on_event(SimTime now, uint64_t argument) override;
  void message_acknowledged(size_t message, SimTime now) override;
  void message_delivered(size_t, SimTime) override {}

  MixedSettings s_;
  std::vector<Arrival> arrivals_;
  size_t next_ = 0, queued_ = 0;
  SimTime started_{};
  std::map<Pair, Qps> qps_;
  std::vector<int64_t> waiting_;  ///< bytes posted and not acknowledged, by flow
};

}  // namespace matchrdma::sim
