#pragma once
// What one worker tells the control thread about itself, gathered in its own thread when it is asked.
#include <vector>

#include "controlplane/service/daemon_view.h"
#include "proxy/daemon/worker.h"

namespace matchrdma::daemon {

struct SpanReport {
  ChannelCounters channel;
  SpanEndCounters end;
  Duration rtt;  ///< 0: not measured
  Instant last_heard = Instant::never();
  bool wants_new_session = false;
  std::optional<ControlPath> path;
  bool drained = false;
  uint64_t owned_bytes = 0;
};

struct WorkerReport {
  Instant at;
  service::WorkerView view;
  service::CustodyView custody;
  std::vector<service::BudgetView> budgets;
  std::vector<SpanReport> spans;
};

/// Adds what one span end of the worker says; `span` is its name.
void report_end(const SpanEnd& end, const std::string& span, WorkerReport& out);

template <class Io>
WorkerReport report(Worker<Io>& w, const std::vector<std::string>& spans, Instant now) {
  WorkerReport r;
  r.at = now;
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
  r.view.handed_over = n.handed;
  r.view.dispatch_drops = w.dispatch_drops();
  for (size_t s = 0; s < w.ends(); ++s) report_end(w.end(s), spans[s], r);
  return r;
}

/// Duty: gathers the flows of one worker in its thread, a piece at a time: a walk over a full table would hold
/// up its packets.
class FlowWalk {
 public:
  static constexpr size_t kRecords = 256;  ///< of one piece

  explicit FlowWalk(uint32_t worker) : worker_(worker) {}
  /// One piece; true when that was the last one.
  template <class Io>
  bool step(Worker<Io>& w, const std::vector<std::string>& spans, Instant now) {
    if (span_ == w.ends()) return true;
    walk(w.end(span_), spans[span_], now);
    return span_ == w.ends();
  }

  std::vector<service::FlowRow> flows;
  std::vector<service::UnpairedRow> unpaired;
  Duration oldest;  ///< age that the oldest owned packet had when its flow was looked at; 0: nothing is owned

 private:
  void walk(const SpanEnd& end, const std::string& span, Instant now);

  uint32_t worker_;
  size_t span_ = 0, record_ = 0;
};

}  // namespace matchrdma::daemon
