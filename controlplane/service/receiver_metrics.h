#pragma once
// Metrics of what the estimator says about the receivers here.
#include "controlplane/service/daemon_view.h"
#include "controlplane/service/metric_family.h"

namespace matchrdma::service {

/// What the active receivers of one span come to, in their newest slots: a receiver is no label.
struct ReceiverSum {
  std::string span;
  BudgetCounts counts;
  uint64_t active = 0, saturated = 0, limited = 0, high = 0, recurrent = 0, draining = 0;
  double arrived = 0, acked = 0, capacity = 0, forecast = 0, budget = 0;  ///< Gb/s
  double backlog = 0, queue = 0, projected = 0;                           ///< bytes
};
std::vector<ReceiverSum> receiver_sums(const DaemonView& v);

std::span<const MetricOf<ReceiverSum>> receiver_metrics();  ///< label span

}  // namespace matchrdma::service
