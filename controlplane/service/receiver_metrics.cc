#include "controlplane/service/receiver_metrics.h"

#include <algorithm>
#include <array>

namespace matchrdma::service {
namespace {

constexpr CounterKind kG = CounterKind::kGauge, kC = CounterKind::kCounter;
constexpr int64_t kActiveNs = 1'000'000'000;  // a receiver without bytes for longer is idle

double plain(uint64_t v) { return static_cast<double>(v); }
double bytes(double gbps) { return gbps * 1e9 / 8; }

using R = ReceiverSum;
// clang-format off
constexpr std::array kReceivers{
  MetricOf<R>{kG, "receivers_active", "", "Receivers here whose budgets are being made", [](const R& v) { return plain(v.active); }},
  MetricOf<R>{kG, "receivers_saturated", "", "Part of them that were the bottleneck in their newest slot", [](const R& v) { return plain(v.saturated); }},
  MetricOf<R>{kG, "receivers_limited", "", "Part of them whose budget held the senders back", [](const R& v) { return plain(v.limited); }},
  MetricOf<R>{kG, "receivers_high", "", "Part of them with congestion level High", [](const R& v) { return plain(v.high); }},
  MetricOf<R>{kG, "receivers_recurrent", "", "Part of them whose capacity has a known period", [](const R& v) { return plain(v.recurrent); }},
  MetricOf<R>{kG, "receivers_draining", "", "Part of them held low to see their least ACK delay", [](const R& v) { return plain(v.draining); }},
  MetricOf<R>{kG, "receivers_arrived_bytes_per_second", "bytes/s", "What came for them from the span", [](const R& v) { return bytes(v.arrived); }},
  MetricOf<R>{kG, "receivers_acked_bytes_per_second", "bytes/s", "What they acknowledged", [](const R& v) { return bytes(v.acked); }},
  MetricOf<R>{kG, "receivers_capacity_bytes_per_second", "bytes/s", "What they are held to be able to take now", [](const R& v) { return bytes(v.capacity); }},
  MetricOf<R>{kG, "receivers_forecast_bytes_per_second", "bytes/s", "What they will be able to take a round trip from now", [](const R& v) { return bytes(v.forecast); }},
  MetricOf<R>{kG, "receivers_budget_bytes_per_second", "bytes/s", "What the peer was told to send them", [](const R& v) { return bytes(v.budget); }},
  MetricOf<R>{kG, "receivers_backlog_bytes", "bytes", "What waits for them in this proxy", [](const R& v) { return v.backlog; }},
  MetricOf<R>{kG, "receivers_queue_bytes", "bytes", "The same with what stands in their networks", [](const R& v) { return v.queue; }},
  MetricOf<R>{kG, "receivers_projected_queue_bytes", "bytes", "What will wait when the newest budgets begin to govern", [](const R& v) { return v.projected; }},
  MetricOf<R>{kC, "receivers_lowered_budgets", "events", "Budgets lowered within a slot, since a receiver had turned slow", [](const R& v) { return plain(v.counts.lowered); }},
  MetricOf<R>{kC, "receivers_late_records", "events", "Slots of a receiver that a worker told of when the next one had ended", [](const R& v) { return plain(v.counts.late); }},
  MetricOf<R>{kC, "receivers_refused_records", "events", "Slots of receivers beyond limits.max_groups, for which no budget is made", [](const R& v) { return plain(v.counts.no_room); }},
};
// clang-format on

void add(ReceiverSum& sum, const SlotWhy& w) {
  ++sum.active;
  sum.saturated += w.sample.saturated() ? 1 : 0;
  sum.limited += w.sample.limited ? 1 : 0;
  sum.high += w.level == CongestionLevel::kHigh ? 1 : 0;
  sum.recurrent += w.period > 0 ? 1 : 0;
  sum.draining += w.draining ? 1 : 0;
  sum.arrived += w.arrived;
  sum.acked += w.sample.acked;
  sum.capacity += w.c;
  sum.forecast += w.forecast;
  sum.budget += w.granted;
  sum.backlog += static_cast<double>(w.backlog);
  sum.queue += w.queue;
  sum.projected += w.projected;
}

}  // namespace

std::vector<ReceiverSum> receiver_sums(const DaemonView& v) {
  std::vector<ReceiverSum> sums;
  for (const SpanSlots& s : v.slots) {
    ReceiverSum& sum = sums.emplace_back(ReceiverSum{s.span, s.counts});
    std::vector<GroupKey> seen;
    const int64_t oldest = s.now - kActiveNs / s.slot.ns;
    for (auto row = s.rows.rbegin(); row != s.rows.rend() && row->slot.why.slot > oldest; ++row) {
      if (std::find(seen.begin(), seen.end(), row->group) != seen.end()) continue;
      seen.push_back(row->group);
      add(sum, row->slot.why);
    }
  }
  return sums;
}

std::span<const MetricOf<ReceiverSum>> receiver_metrics() { return kReceivers; }

}  // namespace matchrdma::service
