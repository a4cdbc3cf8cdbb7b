#pragma once
// What one worker tells the control thread about itself, gathered in its own thread when it is asked.
#include <vector>

#include "controlplane/service/daemon_view.h"
#include "proxy/daemon/worker.h"

namespace matchrdma::daemon {

struct SpanReport {
  ChannelCounters channel;
  SpanEndCounters end;
  Duration rtt;
  Instant last_heard = Instant::never();
  bool wants_new_session = false;
  std::optional<ControlPath> path;
  bool drained = false;
};

struct WorkerReport {
  Instant at;
  service::WorkerView view;
  service::CustodyView custody;
  std::vector<service::BudgetView> budgets;
  std::vector<SpanReport> spans;
  bool has_flows = false;  ///< the two lists were asked for: they walk every record
  std::vector<service::FlowRow> flows;
  std::vector<service::UnpairedRow> unpaired;
};

/// Adds what one span end of the worker says; `span` is its name.
void report_end(const SpanEnd& end, const std::string& span, bool with_flows, Instant now, WorkerReport& out);

template <class Io>
WorkerReport report(Worker<Io>& w, const std::vector<std::string>& spans, bool with_flows, Instant now) {
  WorkerReport r;
  r.at = now;
  r.has_flows = with_flows;
  r.view.worker = r.custody.worker = w.index();
  const WorkerCounters& n = w.counters();
  r.view.busy_cycles = n.busy_ns;
  r.view.idle_cycles = n.idle_ns;
  r.view.loops = n.loops;
  r.view.bursts = n.bursts;
  r.view.rx_packets = n.rx_packets;
  r.view.rx_bytes = n.rx_bytes;
  r.view.tx_packets = n.tx_packets;
  r.view.tx_bytes = n.tx_bytes;
  r.view.tx_drops = n.tx_drops;
  for (size_t s = 0; s < w.ends(); ++s) report_end(w.end(s), spans[s], with_flows, now, r);
  return r;
}

}  // namespace matchrdma::daemon
