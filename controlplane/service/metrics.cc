#include "controlplane/service/metrics.h"

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <limits>
#include <map>
#include <utility>

#include "controlplane/service/metric_list.h"
#include "controlplane/service/receiver_metrics.h"

namespace matchrdma::service {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

MetricFamily family(const std::string& name, const std::string& help, MetricType type) {
  MetricFamily f;
  f.name = name;
  f.help = help;
  f.type = type;
  return f;
}

MetricFamily family(const char* key, CounterKind kind, const std::string& help) {
  const MetricType type = kind == CounterKind::kCounter ? MetricType::Counter : MetricType::Gauge;
  return family(metric_name(key, kind), help, type);
}

void add(MetricFamily& f, Labels labels, double value) {
  ClientMetric m;
  m.label = std::move(labels);
  if (f.type == MetricType::Counter) {
    m.counter.value = value;
  } else {
    m.gauge.value = value;
  }
  f.metric.push_back(std::move(m));
}

void add(MetricFamily& f, Labels labels, const TimeHistogram& h) {
  ClientMetric m;
  m.label = std::move(labels);
  uint64_t below = 0;
  for (size_t i = 0; i < TimeHistogram::kBuckets; ++i) {
    below += h.in_bucket(i);
    const double bound =
        i < TimeHistogram::kBounds ? seconds(TimeHistogram::bound(i)) : std::numeric_limits<double>::infinity();
    m.histogram.bucket.push_back({below, bound});
  }
  m.histogram.sample_count = below;
  m.histogram.sample_sum = plain(h.sum_ns()) / 1e9;
  f.metric.push_back(std::move(m));
}

Labels worker_label(uint32_t worker) { return {{"worker", std::to_string(worker)}}; }
Labels labels_of(const DaemonView&) { return {}; }
Labels labels_of(const WorkerView& v) { return worker_label(v.worker); }
Labels labels_of(const CustodyView& v) { return worker_label(v.worker); }
Labels labels_of(const PortView& v) {
  return {{"port", v.name}, {"span", v.span}, {"side", v.side == Side::kLan ? "lan" : "wan"}};
}
Labels labels_of(const PeerView& v) { return {{"span", v.span}}; }
Labels labels_of(const BudgetSum& v) { return {{"span", v.span}}; }
Labels labels_of(const ReceiverSum& v) { return {{"span", v.span}}; }

template <typename T>
void collect(std::span<const MetricOf<T>> metrics, std::span<const T> views, std::vector<MetricFamily>& out) {
  for (const MetricOf<T>& m : metrics) {
    MetricFamily f = family(m.key, m.kind, m.help);
    for (const T& v : views) {
      if (m.known == nullptr || m.known(v)) add(f, labels_of(v), m.value(v));
    }
    if (!f.metric.empty()) out.push_back(std::move(f));
  }
}

constexpr const char* kReasonKey = "reason_packets";
constexpr const char* kReasonHelp =
    "Packets not acted on, absorbed or dropped, by reason; docs/metrics.md lists them";
constexpr const char* kFlowsKey = "flows";
constexpr const char* kFlowsHelp = "Known flows by state; one direction of a QP each";
constexpr const char* kUnpairedKey = "unpaired_flows";
constexpr const char* kUnpairedHelp = "Flows that are watched without their partner being known";
constexpr const char* kBuildKey = "build_info";
constexpr const char* kBuildHelp = "1; the label tells the version";

void collect_shards(const DaemonView& v, std::vector<MetricFamily>& out) {
#define MATCHRDMA_X(member, kind, key, unit, help)                                                  \
  {                                                                                                 \
    MetricFamily f = family(key, CounterKind::kind, help);                                          \
    for (const WorkerView& w : v.workers) add(f, worker_label(w.worker), plain(w.counters.member)); \
    out.push_back(std::move(f));                                                                    \
  }
  MATCHRDMA_COUNTERS(MATCHRDMA_X)
#undef MATCHRDMA_X
#define MATCHRDMA_X(field, key, help)                                                        \
  {                                                                                          \
    MetricFamily f = family(std::string("matchrdma_") + key, help, MetricType::Histogram);   \
    for (const WorkerView& w : v.workers) add(f, worker_label(w.worker), w.latencies.field); \
    out.push_back(std::move(f));                                                             \
  }
  MATCHRDMA_LATENCIES(MATCHRDMA_X)
#undef MATCHRDMA_X
  MetricFamily reasons = family(kReasonKey, CounterKind::kCounter, kReasonHelp);
  for (const WorkerView& w : v.workers) {
    for (size_t i = 1; i < kReasonKeys.size(); ++i) {
      Labels l = worker_label(w.worker);
      l.push_back({"reason", kReasonKeys[i]});
      add(reasons, std::move(l), plain(w.counters.reasons.n[i]));
    }
  }
  out.push_back(std::move(reasons));
}

void collect_flows(const DaemonView& v, std::vector<MetricFamily>& out) {
  if (!v.flows) return;
  std::map<std::pair<std::string, std::string>, uint64_t> by_state;
  for (const FlowRow& r : v.flows->flows) {
    ++by_state[{r.flow.source ? "source" : "destination", r.flow.state}];
  }
  MetricFamily flows = family(kFlowsKey, CounterKind::kGauge, kFlowsHelp);
  for (const auto& [at, n] : by_state) add(flows, {{"role", at.first}, {"state", at.second}}, plain(n));
  if (!flows.metric.empty()) out.push_back(std::move(flows));
  MetricFamily unpaired = family(kUnpairedKey, CounterKind::kGauge, kUnpairedHelp);
  add(unpaired, {}, plain(v.flows->unpaired.size()));
  out.push_back(std::move(unpaired));
}

/// What prometheus asks for the families of one view.
class ViewCollector : public prometheus::Collectable {
 public:
  explicit ViewCollector(const DaemonView* view) : view_(view) {}
  std::vector<MetricFamily> Collect() const override {
    std::vector<MetricFamily> out;
    if (view_ == nullptr) return out;
    const DaemonView& v = *view_;
    MetricFamily build = family(kBuildKey, CounterKind::kGauge, kBuildHelp);
    add(build, {{"version", v.version}}, 1);
    out.push_back(std::move(build));
    const std::vector<BudgetSum> budgets = budget_sums(v);
    collect<DaemonView>(daemon_metrics(), std::span(&v, 1), out);
    collect<WorkerView>(worker_metrics(), v.workers, out);
    collect_shards(v, out);
    collect<CustodyView>(custody_metrics(), v.custody, out);
    collect_flows(v, out);
    collect<BudgetSum>(budget_metrics(), budgets, out);
    collect<ReceiverSum>(receiver_metrics(), receiver_sums(v), out);
    collect<PeerView>(peer_metrics(), v.peers, out);
    collect<PortView>(port_metrics(), v.ports, out);
    return out;
  }

 private:
  const DaemonView* view_;
};

template <typename T>
void describe(std::span<const MetricOf<T>> metrics, const char* labels, std::vector<MetricInfo>& out) {
  for (const MetricOf<T>& m : metrics) {
    out.push_back({metric_name(m.key, m.kind), metric_type(m.kind), m.unit, labels, m.help});
  }
}

void describe_shards(std::vector<MetricInfo>& out) {
#define MATCHRDMA_X(member, kind, key, unit, help) \
  out.push_back({metric_name(key, CounterKind::kind), metric_type(CounterKind::kind), unit, "worker", help});
  MATCHRDMA_COUNTERS(MATCHRDMA_X)
#undef MATCHRDMA_X
#define MATCHRDMA_X(field, key, help) \
  out.push_back({std::string("matchrdma_") + key, "histogram", "seconds", "worker", help});
  MATCHRDMA_LATENCIES(MATCHRDMA_X)
#undef MATCHRDMA_X
  out.push_back(
      {metric_name(kReasonKey, CounterKind::kCounter), "counter", "packets", "worker, reason", kReasonHelp});
}

}  // namespace

std::string metrics_text(const DaemonView* view) {
  return prometheus::TextSerializer().Serialize(ViewCollector(view).Collect());
}

std::vector<MetricInfo> metric_infos() {
  std::vector<MetricInfo> out;
  out.push_back({metric_name(kBuildKey, CounterKind::kGauge), "gauge", "", "version", kBuildHelp});
  describe<DaemonView>(daemon_metrics(), "", out);
  describe<WorkerView>(worker_metrics(), "worker", out);
  describe_shards(out);
  describe<CustodyView>(custody_metrics(), "worker", out);
  out.push_back({metric_name(kFlowsKey, CounterKind::kGauge), "gauge", "", "role, state", kFlowsHelp});
  out.push_back({metric_name(kUnpairedKey, CounterKind::kGauge), "gauge", "", "", kUnpairedHelp});
  describe<BudgetSum>(budget_metrics(), "span", out);
  describe<ReceiverSum>(receiver_metrics(), "span", out);
  describe<PeerView>(peer_metrics(), "span", out);
  describe<PortView>(port_metrics(), "port, span, side", out);
  return out;
}

std::string metrics_document() {
  std::string s =
      "# Metrics\n\n"
      "`/metrics` of the daemon, in base units. Made from the lists in the code by `service_test`; to make it "
      "anew:\n"
      "`MATCHRDMA_GOLDEN=write service_test --gtest_filter='Metrics.*'`.\n\n"
      "Labels are bounded: `worker`, `span`, `port`, `side`, `reason`, `role`, `state`. No address and no QPN "
      "is\n"
      "ever a label; `matchrdma ctl show flows` tells about single flows. Peaks and levels are gauges of this\n"
      "process: they begin anew with it, as the counters do. `matchrdma_receivers_*` exist for spans with an\n"
      "`estimator` that is not `fixed`.\n\n"
      "| metric | type | unit | labels | what it is |\n|---|---|---|---|---|\n";
  for (const MetricInfo& m : metric_infos()) {
    s += "| `" + m.name + "` | " + m.type + " | " + m.unit + " | " + m.labels + " | " + m.help + " |\n";
  }
  s += "\n## Reasons\n\n| `reason` | why |\n|---|---|\n";
  for (size_t i = 1; i < kReasonKeys.size(); ++i) {
    s += std::string("| `") + kReasonKeys[i] + "` | " + kReasonTexts[i] + " |\n";
  }
  return s;
}

}  // namespace matchrdma::service
