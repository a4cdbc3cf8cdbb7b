#pragma once
// Every metric that is not in dataplane's own lists (MATCHRDMA_COUNTERS, MATCHRDMA_REASONS,
// MATCHRDMA_LATENCIES).
#include "controlplane/service/daemon_view.h"
#include "controlplane/service/metric_family.h"

namespace matchrdma::service {

/// What all budget groups of one span come to: a receiver is no label.
struct BudgetSum {
  std::string span;
  uint64_t groups = 0, from_peer = 0, rate_bps = 0, backlog_bytes = 0, admitted_bytes = 0;
};
std::vector<BudgetSum> budget_sums(const DaemonView& v);

std::span<const MetricOf<DaemonView>> daemon_metrics();
std::span<const MetricOf<WorkerView>> worker_metrics();    ///< label worker
std::span<const MetricOf<CustodyView>> custody_metrics();  ///< label worker
std::span<const MetricOf<PortView>> port_metrics();        ///< labels port, span, side
std::span<const MetricOf<PeerView>> peer_metrics();        ///< label span
std::span<const MetricOf<BudgetSum>> budget_metrics();     ///< label span

}  // namespace matchrdma::service
