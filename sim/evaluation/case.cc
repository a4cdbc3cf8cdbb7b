#include "sim/evaluation/case.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "dataplane/base/check.h"
#include "sim/workload/aicb_examples.h"
#include "sim/workload/fct.h"

namespace matchrdma::sim {
namespace {

std::unique_ptr<Workload> make_load(const Case& c, World& w) {
  const TopologySettings& t = c.world.topology;
  switch (c.load.kind) {
    case LoadSpec::Kind::kMixed: {
      MixedSettings m = c.load.mixed;
      m.hosts_per_site = t.hosts_per_site();
      m.seed = c.world.seed;
      return std::make_unique<MixedWorkload>(w.network(), m);
    }
    case LoadSpec::Kind::kIterations: {
      AicbSettings a = c.load.iterations;
      a.seed = c.world.seed;
      a.scale = kAicbLlama7b.scale;
      const auto model = parse_aicb(kAicbLlama7b.text(), std::string(kAicbLlama7b.name));
      MRDMA_CHECK(model.ok());
      return std::make_unique<AicbWorkload>(w.network(), *model, a, t.hosts());
    }
    default:
      return std::make_unique<ClosedLoop>(
          w.network(), c.load.loop,
          t.partners(c.load.kind == LoadSpec::Kind::kLeafPairs ? t.hosts_per_leaf : 1));
  }
}

void add_rates(const RunMetrics& m, Values& v) {
  std::vector<double> gbps;
  for (const FlowMetrics& f : m.flows)
    if (f.inter) gbps.push_back(m.gbps(f.delivered_bytes));
  if (gbps.empty()) return;
  const auto flows = static_cast<double>(gbps.size());
  v.push_back({"delivered_gbps_per_pair", std::accumulate(gbps.begin(), gbps.end(), 0.0) / flows});
  v.push_back({"least_pair_gbps", *std::min_element(gbps.begin(), gbps.end())});
  v.push_back({"acknowledged_gbps_per_pair", m.acknowledged_gbps() / flows});
  v.push_back({"jain", jain_index(gbps)});
}

void add_buffers(const RunMetrics& m, Values& v) {
  const auto mb = [](int64_t bytes) { return static_cast<double>(bytes) / 1e6; };
  v.push_back({"otn_peak_mb", mb(m.destination.highest)});
  v.push_back({"otn_p99_mb", mb(m.destination.p99)});
  v.push_back({"site_peak_mb", mb(m.destination_site.highest)});
  v.push_back({"site_p99_mb", mb(m.destination_site.p99)});
  v.push_back({"source_peak_mb", mb(m.source.highest)});
  v.push_back({"custody_peak_mb", mb(static_cast<int64_t>(m.custody_peak))});
}

void add_pauses(const RunMetrics& m, Values& v) {
  double ratio = 0, worst = 0, frames = 0;
  for (size_t l = 0; l < kLayers; ++l) {
    v.push_back({std::string("paused_") + kLayerNames[l], m.pauses[l].ratio});
    ratio += m.pauses[l].ratio * static_cast<double>(m.pauses[l].ports);
    worst = std::max(worst, m.pauses[l].worst);
    frames += static_cast<double>(m.pauses[l].frames);
  }
  v.push_back({"paused", ratio / static_cast<double>(m.ports())});
  v.push_back({"paused_worst", worst});
  v.push_back({"pause_frames", frames});
}

void add_times(const Case& c, World& w, const Workload& load, const RunMetrics& m, Values& v) {
  const IdealPath ideal{w.network(), c.world.topology.host, c.world.mtu};
  for (const bool inter : {true, false}) {
    const Fct f = completion_times(
        load, ideal, [&](const Flow& flow) { return w.between_sites(flow) == inter; }, m.window_start);
    if (f.receiver.messages == 0) continue;
    const std::string of = inter ? "inter" : "intra";
    v.push_back({of + "_messages", static_cast<double>(f.receiver.messages)});
    v.push_back({of + "_fct_receiver_us", f.receiver.mean_us});
    v.push_back({of + "_fct_receiver_p99_us", f.receiver.p99_us});
    v.push_back({of + "_fct_sender_us", f.sender.mean_us});
    v.push_back({of + "_slowdown_receiver", f.receiver.mean_slowdown});
  }
}

}  // namespace

Values run_case(const Case& c) {
  World world(c.world);
  const std::unique_ptr<Workload> load = make_load(c, world);
  RunMetrics m;
  if (!run(world, *load, c.window, m)) return {{"complete", 0}};
  Values v{{"complete", m.complete ? 1 : 0}};
  add_rates(m, v);
  add_buffers(m, v);
  add_pauses(m, v);
  add_times(c, world, *load, m, v);
  if (const auto* job = dynamic_cast<const AicbWorkload*>(load.get())) {
    const std::vector<SimSpan> times = job->iteration_times();
    double sum = 0;
    for (const SimSpan t : times) sum += t.us() / 1e3;
    if (!times.empty()) v.push_back({"iteration_ms", sum / static_cast<double>(times.size())});
    v.push_back({"iterations", static_cast<double>(times.size())});
  }
  v.push_back({"marked_packets", static_cast<double>(m.marks)});
  v.push_back({"dropped_packets", static_cast<double>(m.drops)});
  v.push_back({"lost_frames", static_cast<double>(world.network().lost_frames())});
  v.push_back({"sent_again_mb", static_cast<double>(m.sent_again) / 1e6});
  v.push_back({"control_mb", static_cast<double>(m.control_bytes) / 1e6});
  v.push_back({"events", static_cast<double>(m.events)});
  return v;
}

}  // namespace matchrdma::sim
