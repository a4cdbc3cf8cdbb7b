#include "sim/evaluation/measure.h"

#include <algorithm>
#include <utility>

namespace matchrdma::sim {
namespace {

constexpr int kSteps = 100;              ///< of the progress
constexpr uint64_t kEvents = 1'000'000;  ///< the same, where nobody knows the end

/// What rises all the time, as it stands at one moment.
struct Standing {
  SimTime at{};
  std::vector<int64_t> delivered{}, acknowledged{};
  std::array<std::vector<SimSpan>, kLayers> paused{};  ///< by port
  std::array<uint64_t, kLayers> pauses{};
  uint64_t drops = 0, marks = 0, control_bytes = 0;
  int64_t sent_again = 0;
};

Standing stand(World& w, const Workload& load) {
  Standing s;
  s.at = w.network().now();
  for (size_t f = 0; f < load.flows(); ++f) {
    s.delivered.push_back(load.delivered_bytes(f));
    s.acknowledged.push_back(load.acknowledged_bytes(f));
    const Flow& flow = load.flow(f);
    s.sent_again += w.network().host(flow.source).sender(flow.source_qp).sent_again();
  }
  for (uint32_t h = 0; h < w.network().hosts(); ++h)
    s.paused[0].push_back(w.network().host(h).pauses().paused_for(kDataClass, s.at));
  for (const Layer layer : {Layer::kLeaf, Layer::kSpine, Layer::kOtn}) {
    const auto l = static_cast<size_t>(layer);
    for (const uint32_t n : w.switches(layer)) {
      const SwitchNode& node = w.network().switch_node(n);
      for (uint32_t port = 0; port < node.ports(); ++port)
        s.paused[l].push_back(node.pauses(port).paused_for(kDataClass, s.at));
      s.pauses[l] += node.stats().pauses;
      s.drops += node.stats().drops;
      s.marks += node.stats().marks;
    }
  }
  for (const bool a : {true, false})
    if (const ProxyBorder* p = w.proxy(a)) s.control_bytes += p->control_bytes();
  return s;
}

PauseMetrics pauses_between(const std::vector<SimSpan>& from, const std::vector<SimSpan>& to, SimSpan time) {
  PauseMetrics p{.ports = from.size()};
  for (size_t i = 0; i < from.size(); ++i) {
    const double share = (to[i] - from[i]).us() / time.us();
    p.ratio += share / static_cast<double>(from.size());
    p.worst = std::max(p.worst, share);
  }
  return p;
}

std::array<std::pair<Occupancy*, BufferMetrics*>, 3> buffers(World& w, RunMetrics& m) {
  return {{{&w.otn(true).occupancy(), &m.source},
           {&w.otn(false).occupancy(), &m.destination},
           {&w.site(false), &m.destination_site}}};
}

void difference(World& w, const Workload& load, const Standing& from, RunMetrics& m) {
  const Standing to = stand(w, load);
  const SimSpan time = to.at - from.at;
  m.seconds = time.us() / 1e6;
  for (size_t f = 0; f < load.flows(); ++f) {
    const Flow& flow = load.flow(f);
    m.flows.push_back({flow, w.between_sites(flow), to.delivered[f] - from.delivered[f],
                       to.acknowledged[f] - from.acknowledged[f]});
  }
  for (size_t l = 0; l < kLayers; ++l) {
    m.pauses[l] = pauses_between(from.paused[l], to.paused[l], time);
    m.pauses[l].frames = to.pauses[l] - from.pauses[l];
  }
  m.drops = to.drops - from.drops;
  m.marks = to.marks - from.marks;
  m.sent_again = to.sent_again - from.sent_again;
  m.control_bytes = to.control_bytes - from.control_bytes;
  for (const auto& [o, b] : buffers(w, m)) {
    b->p99 = o->quantile(0.99, to.at);
    b->peak = o->peak();
    b->highest = std::max(b->highest, b->peak);
  }
  if (const ProxyBorder* p = w.proxy(true)) m.custody_peak = p->proxy().shard().counters().custody_peak;
  m.events = w.network().events().executed();
}

}  // namespace

Window Window::steady(int64_t km) {
  const SimSpan rtt = fibre(km) * 2;
  return {.warm_up = std::max(rtt * 20, SimSpan::micros(100'000)),
          .length = std::max(rtt * 5, SimSpan::micros(5'000))};
}

bool run(World& world, Workload& load, const Window& window, RunMetrics& out,
         const std::function<void(double, double)>& progress) {
  load.open([&world](uint32_t a, uint32_t b) { return world.open(a, b); });
  if (!world.settle()) return false;
  EventCore& events = world.network().events();
  const SimTime start = events.now();
  for (const auto& [o, b] : buffers(world, out)) o->start(start);
  load.start();
  events.run_until(start + window.warm_up);
  out.first_message = load.messages().size();
  const Standing from = stand(world, load);
  out.window_start = from.at;
  for (const auto& [o, b] : buffers(world, out)) {
    b->highest = o->peak();
    o->start(from.at);
  }
  const SimTime end = from.at + window.length;
  const auto tell = [&] {
    if (progress) progress((events.now() - start).us() / 1e6, (end - start).us() / 1e6);
  };
  if (window.to_the_end) {
    for (uint64_t n = 0; !load.done() && events.next_due() <= end && events.run_one(); ++n)
      if (n % kEvents == 0) tell();
  } else {
    const SimSpan step{std::max<int64_t>(window.length.ps / kSteps, 1)};
    for (; events.now() < end; tell()) events.run_until(std::min(end, events.now() + step));
  }
  for (const MessageRecord& m : load.messages()) {
    for (const SimTime t : {m.delivered, m.acknowledged})
      if (!t.is_never()) out.finished = std::max(out.finished, t - start);
  }
  out.complete = !window.to_the_end || load.done();
  difference(world, load, from, out);
  return true;
}

}  // namespace matchrdma::sim
