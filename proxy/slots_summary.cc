#include "proxy/slots_summary.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <ostream>
#include <utility>

#include "proxy/table.h"

namespace matchrdma {
namespace {

using Json = nlohmann::ordered_json;

std::string fixed(const char* format, double v) {
  char text[64];
  std::snprintf(text, sizeof text, format, v);
  return text;
}

std::string rate(double gbps) {
  if (gbps >= 1 || gbps <= 0) return fixed("%.2f Gb/s", gbps);
  return gbps >= 1e-3 ? fixed("%.2f Mb/s", gbps * 1e3) : fixed("%.2f kb/s", gbps * 1e6);
}
std::string volume(double bytes) {
  if (bytes >= 1e6) return fixed("%.2f MB", bytes / 1e6);
  if (bytes >= 1e3) return fixed("%.1f kB", bytes / 1e3);
  return fixed("%.0f B", bytes);
}

double arrived_bytes(const SlotSeries& s) {
  double sum = 0;
  for (const SlotPoint& p : s.points) sum += p.arrived;
  return sum * static_cast<double>(s.slot.ns);
}

// A forecast is compared with what happened in the slot that it was made for; of two the later one counts.
std::optional<double> error_of(const SlotSeries& s) {
  std::map<int64_t, double> forecasts;
  for (const SlotPoint& p : s.points) forecasts[p.governs] = p.forecast;
  double wrong = 0, all = 0;
  for (const SlotPoint& p : s.points) {
    const auto f = forecasts.find(p.slot);
    if (!p.saturated || f == forecasts.end()) continue;
    wrong += std::abs(f->second - p.capacity);
    all += p.capacity;
  }
  return all > 0 ? std::optional(wrong / all) : std::nullopt;
}

}  // namespace

SlotSummary summary_of(const SlotSeries& s) {
  SlotSummary out;
  out.slots = s.points.size();
  for (const SlotPoint& p : s.points) {
    out.saturated += p.saturated ? 1 : 0;
    out.arrived += p.arrived;
    out.acked += p.acked;
    out.budget += p.budget;
    out.mean_backlog += p.backlog;
    out.peak_backlog = std::max(out.peak_backlog, p.backlog);
    if (p.period > 0) out.period = Duration{std::llround(p.period * static_cast<double>(s.slot.ns))};
  }
  if (out.slots > 0)
    for (double* mean : {&out.arrived, &out.acked, &out.budget, &out.mean_backlog})
      *mean /= static_cast<double>(out.slots);
  out.error = error_of(s);
  return out;
}

std::string receiver_text(const SlotSeries& s) {
  std::string text = s.receiver;
  if (s.vlan != 0) text += " VLAN " + std::to_string(s.vlan);
  if (s.inner_vlan != 0) text += "." + std::to_string(s.inner_vlan);
  return text;
}

std::vector<const SlotSeries*> busiest(const std::vector<SlotSeries>& all, size_t most) {
  std::vector<std::pair<double, const SlotSeries*>> order;
  for (const SlotSeries& s : all) order.emplace_back(arrived_bytes(s), &s);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<const SlotSeries*> out;
  for (size_t i = 0; i < order.size() && i < most; ++i) out.push_back(order[i].second);
  return out;
}

std::vector<std::pair<std::string, std::string>> summary_words(const SlotSummary& s) {
  return {{"slots", thousands(s.slots)},
          {"saturated", thousands(s.saturated)},
          {"mean arrived", rate(s.arrived)},
          {"mean acked", rate(s.acked)},
          {"mean budget", rate(s.budget)},
          {"forecast error", s.error ? fixed("%.1f %%", *s.error * 100) : "-"},
          {"peak backlog", volume(s.peak_backlog)},
          {"mean backlog", volume(s.mean_backlog)},
          {"period", s.period ? duration_text(s.period->ns) : "-"}};
}

void print_summaries(std::ostream& out, const std::vector<SlotSeries>& all) {
  std::vector<Table::Column> columns{{"span"}, {"receiver"}};
  for (const auto& [name, value] : summary_words({})) columns.push_back({name, Table::Align::kRight});
  Table t(std::move(columns));
  for (const SlotSeries& s : all) {
    std::vector<std::string> row{s.span, receiver_text(s)};
    for (const auto& [name, value] : summary_words(summary_of(s))) row.push_back(value);
    t.add(std::move(row));
  }
  t.print(out, 0);
}

Json summaries_json(const std::vector<SlotSeries>& all) {
  Json receivers = Json::array();
  const auto bps = [](double gbps) { return std::llround(gbps * 1e9); };
  for (const SlotSeries& s : all) {
    const SlotSummary sum = summary_of(s);
    receivers.push_back({{"span", s.span},
                         {"receiver", s.receiver},
                         {"vlan", s.vlan},
                         {"inner_vlan", s.inner_vlan},
                         {"slot_ns", s.slot.ns},
                         {"slots", sum.slots},
                         {"saturated_slots", sum.saturated},
                         {"mean_arrived_bps", bps(sum.arrived)},
                         {"mean_acked_bps", bps(sum.acked)},
                         {"mean_budget_bps", bps(sum.budget)},
                         {"forecast_error", sum.error ? Json(*sum.error) : Json(nullptr)},
                         {"peak_backlog_bytes", std::llround(sum.peak_backlog)},
                         {"mean_backlog_bytes", std::llround(sum.mean_backlog)},
                         {"period_ns", sum.period ? Json(sum.period->ns) : Json(nullptr)}});
  }
  return {{"receivers", std::move(receivers)}};
}

}  // namespace matchrdma
