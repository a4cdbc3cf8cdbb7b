#include "proxy/sim_report.h"

#include <algorithm>
#include <functional>
#include <ostream>

#include "config/units.h"
#include "proxy/table.h"

namespace matchrdma {
namespace {

using sim::Layer;
using sim::MessageRecord;
using sim::RunMetrics;

std::string volume(double bytes) {
  if (bytes < 1e3) return decimal(bytes, 0) + " B";
  if (bytes < 1e6) return decimal(bytes / 1e3, 1) + " kB";
  if (bytes < 1e9) return decimal(bytes / 1e6, 1) + " MB";
  return decimal(bytes / 1e9, 2) + " GB";
}

/// Where a workload has no end: of one that has, a rate says little.
std::string per_pair(const SimRun& r, double gbps) {
  if (r.ends) return "-";
  const auto pairs = std::count_if(r.metrics.flows.begin(), r.metrics.flows.end(),
                                   [](const sim::FlowMetrics& f) { return f.inter; });
  return decimal(gbps / static_cast<double>(std::max<std::ptrdiff_t>(pairs, 1)), 2);
}

/// Times from the post to an end of the message, of those that have come to it; ns, in order.
std::vector<int64_t> times(const SimRun& r, sim::SimTime MessageRecord::*end) {
  std::vector<int64_t> out;
  for (const MessageRecord& m : r.messages)
    if (!(m.*end).is_never()) out.push_back((m.*end - m.posted).ps / 1000);
  std::sort(out.begin(), out.end());
  return out;
}

std::string time_words(const SimRun& r, sim::SimTime MessageRecord::*end) {
  const std::vector<int64_t> t = times(r, end);
  if (t.empty()) return "none";
  return duration_text(t[t.size() / 2]) + ", " + duration_text(t[t.size() * 99 / 100]);
}

std::string buffer_words(const sim::BufferMetrics& b) {
  return volume(static_cast<double>(b.highest)) + ", " + volume(static_cast<double>(b.p99));
}

std::string pause_words(const RunMetrics& m, Layer layer) {
  const sim::PauseMetrics& p = m.pauses[static_cast<size_t>(layer)];
  return decimal(p.ratio * 100, 2) + " %, " + decimal(p.worst * 100, 1) + " %";
}

uint64_t pause_frames(const RunMetrics& m) {
  uint64_t sum = 0;
  for (const sim::PauseMetrics& p : m.pauses) sum += p.frames;
  return sum;
}

/// What a mean hides: pairs that share a cable get less than others.
std::string spread_words(const SimRun& r) {
  if (r.ends) return "-";
  double least = 1e12, most = 0;
  for (const sim::FlowMetrics& f : r.metrics.flows) {
    if (!f.inter) continue;
    const double gbps = r.metrics.gbps(f.delivered_bytes);
    least = std::min(least, gbps);
    most = std::max(most, gbps);
  }
  return most == 0 ? "none" : decimal(least, 1) + ", " + decimal(most, 1);
}

struct Line {
  const char* what;
  std::function<std::string(const SimRun&)> words;
};

const std::vector<Line>& lines() {
  static const std::vector<Line> all{
      {"all done after",
       [](const SimRun& r) {
         return !r.ends              ? std::string("-")
                : r.metrics.complete ? duration_text(r.metrics.finished.ps / 1000)
                                     : std::string("not done");
       }},
      {"delivered, Gb/s per pair", [](const SimRun& r) { return per_pair(r, r.metrics.delivered_gbps()); }},
      {"the slowest and the fastest pair, Gb/s", spread_words},
      {"acknowledged, Gb/s per pair",
       [](const SimRun& r) { return per_pair(r, r.metrics.acknowledged_gbps()); }},
      {"messages begun and ended while measured",
       [](const SimRun& r) { return thousands(times(r, &MessageRecord::delivered).size()); }},
      {"message at sender, median, p99",
       [](const SimRun& r) { return time_words(r, &MessageRecord::acknowledged); }},
      {"message at receiver, median, p99",
       [](const SimRun& r) { return time_words(r, &MessageRecord::delivered); }},
      {"destination OTN node, peak, p99", [](const SimRun& r) { return buffer_words(r.metrics.destination); }},
      {"all switches of site B, peak, p99",
       [](const SimRun& r) { return buffer_words(r.metrics.destination_site); }},
      {"source OTN node, peak, p99", [](const SimRun& r) { return buffer_words(r.metrics.source); }},
      {"custody of the source proxy, peak",
       [](const SimRun& r) {
         return r.settings.scheme == sim::LongHaul::kMatchRdma
                    ? volume(static_cast<double>(r.metrics.custody_peak))
                    : std::string("-");
       }},
      {"hosts paused, mean, worst", [](const SimRun& r) { return pause_words(r.metrics, Layer::kHost); }},
      {"leaf ports paused, mean, worst", [](const SimRun& r) { return pause_words(r.metrics, Layer::kLeaf); }},
      {"spine ports paused, mean, worst",
       [](const SimRun& r) { return pause_words(r.metrics, Layer::kSpine); }},
      {"OTN ports paused, mean, worst", [](const SimRun& r) { return pause_words(r.metrics, Layer::kOtn); }},
      {"PAUSE frames", [](const SimRun& r) { return thousands(pause_frames(r.metrics)); }},
      {"packets marked CE", [](const SimRun& r) { return thousands(r.metrics.marks); }},
      {"packets dropped", [](const SimRun& r) { return thousands(r.metrics.drops); }},
      {"sent again by hosts",
       [](const SimRun& r) { return volume(static_cast<double>(r.metrics.sent_again)); }},
      {"between the proxies",
       [](const SimRun& r) { return volume(static_cast<double>(r.metrics.control_bytes)); }},
  };
  return all;
}

nlohmann::ordered_json times_json(const SimRun& r, sim::SimTime MessageRecord::*end) {
  const std::vector<int64_t> t = times(r, end);
  if (t.empty()) return nullptr;
  double sum = 0;
  for (const int64_t ns : t) sum += static_cast<double>(ns);
  return {{"messages", t.size()},
          {"mean_ns", sum / static_cast<double>(t.size())},
          {"median_ns", t[t.size() / 2]},
          {"p99_ns", t[t.size() * 99 / 100]}};
}

nlohmann::ordered_json flows_json(const RunMetrics& m) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const sim::FlowMetrics& f : m.flows)
    all.push_back({{"source", f.flow.source},
                   {"destination", f.flow.destination},
                   {"between_sites", f.inter},
                   {"delivered_gbps", m.gbps(f.delivered_bytes)},
                   {"acknowledged_gbps", m.gbps(f.acknowledged_bytes)}});
  return all;
}

nlohmann::ordered_json buffer_json(const sim::BufferMetrics& b) {
  return {{"peak_bytes", b.highest}, {"window_peak_bytes", b.peak}, {"window_p99_bytes", b.p99}};
}

nlohmann::ordered_json run_json(const SimRun& r) {
  const RunMetrics& m = r.metrics;
  nlohmann::ordered_json pauses;
  for (size_t l = 0; l < sim::kLayers; ++l)
    pauses[sim::kLayerNames[l]] = {
        {"ratio", m.pauses[l].ratio}, {"worst", m.pauses[l].worst}, {"frames", m.pauses[l].frames}};
  return {{"scheme", sim::scheme_name(r.settings.scheme)},
          {"distance_km", r.settings.topology.km},
          {"seed", r.settings.seed},
          {"seconds", m.seconds},
          {"complete", m.complete},
          {"finished_ns", m.finished.ps / 1000},
          {"flows", flows_json(m)},
          {"delivered_gbps", m.delivered_gbps()},
          {"acknowledged_gbps", m.acknowledged_gbps()},
          {"at_sender", times_json(r, &MessageRecord::acknowledged)},
          {"at_receiver", times_json(r, &MessageRecord::delivered)},
          {"destination_otn", buffer_json(m.destination)},
          {"destination_site", buffer_json(m.destination_site)},
          {"source_otn", buffer_json(m.source)},
          {"custody_peak_bytes", m.custody_peak},
          {"pauses", pauses},
          {"marked_packets", m.marks},
          {"dropped_packets", m.drops},
          {"sent_again_bytes", m.sent_again},
          {"control_bytes", m.control_bytes},
          {"events", m.events}};
}

}  // namespace

void print_runs(std::ostream& out, const std::string& workload, const std::vector<SimRun>& runs) {
  const SimRun& first = runs.front();
  out << first.settings.topology.km << " km, seed " << first.settings.seed << ", "
      << duration_text(static_cast<int64_t>(first.metrics.seconds * 1e9)) << " measured\n"
      << workload << "\n\n";
  std::vector<Table::Column> columns{{"", Table::Align::kLeft}};
  for (const SimRun& r : runs) columns.push_back({sim::scheme_name(r.settings.scheme), Table::Align::kRight});
  Table t(columns);
  for (const Line& l : lines()) {
    std::vector<std::string> cells{l.what};
    for (const SimRun& r : runs) cells.push_back(l.words(r));
    t.add(cells);
  }
  t.print(out);
}

nlohmann::ordered_json runs_json(const std::string& workload, const std::vector<SimRun>& runs) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const SimRun& r : runs) all.push_back(run_json(r));
  return {{"workload", workload}, {"runs", all}};
}

}  // namespace matchrdma
