#pragma once
// The view as Prometheus metrics. Labels are bounded by the config and by the code: worker, span, port, side,
// reason, role, state; never an address or a QPN.
#include <string>
#include <vector>

#include "controlplane/service/daemon_view.h"
#include "controlplane/service/metric_family.h"

namespace matchrdma::service {

/// The text of /metrics (exposition format 0.0.4); empty while `view` is nullptr: nothing was published yet.
std::string metrics_text(const DaemonView* view);

/// Every metric there is, in the order of the scrape.
std::vector<MetricInfo> metric_infos();
/// docs/metrics.md.
std::string metrics_document();

}  // namespace matchrdma::service
