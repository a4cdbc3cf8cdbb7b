#include "controlplane/service/slot_json.h"

#include <cmath>

#include "dataplane/base/ip_text.h"

namespace matchrdma::service {
namespace {

int64_t bps(double gbps) { return std::llround(gbps * 1e9); }
int64_t whole(double v) { return std::llround(v); }

template <class List>
Json rates(const List& list) {
  Json out = Json::array();
  for (const double v : list) out.push_back(bps(v));
  return out;
}

}  // namespace

Json slot_json(const std::string& span, Duration slot, const SlotRow& row) {
  const SlotWhy& w = row.slot.why;
  Json weights = Json::array(), lags = Json::array();
  for (const double v : w.weights) weights.push_back(v);
  for (const auto v : w.lags) lags.push_back(v);
  return {{"span", span},
          {"receiver", ip_text(row.group.dst)},
          {"vlan", row.group.vlan_outer},
          {"inner_vlan", row.group.vlan_inner},
          {"slot", w.slot},
          {"slot_ns", slot.ns},
          {"governs", w.slot + w.horizon},
          {"arrived_bps", bps(w.arrived)},
          {"acked_bps", bps(w.sample.acked)},
          {"saturated", w.sample.saturated()},
          {"sample_bps", bps(w.sample.rate)},
          {"limited", w.sample.limited},
          {"level", kLevelKeys[static_cast<size_t>(w.level)]},
          {"level_stale", w.level_stale},
          {"draining", w.draining},
          {"least_ack_delay_ns", whole(w.min_delay_ns)},
          {"governing_bps", bps(w.governing)},
          {"window", kWindowKeys[static_cast<size_t>(w.window)]},
          {"capacity_bps", bps(w.c)},
          {"probed", w.probed},
          {"probe_step_bps", bps(w.probe_step)},
          {"period_slots", w.period},
          {"lags_slots", std::move(lags)},
          {"predictions_bps", rates(w.predictions)},
          {"errors_bps", rates(w.errors)},
          {"weights", std::move(weights)},
          {"forecast_bps", bps(w.forecast)},
          {"tested_bps", bps(w.tested)},
          {"backlog_bytes", w.backlog},
          {"queue_bytes", whole(w.queue)},
          {"projected_queue_bytes", whole(w.projected)},
          {"wanted_bps", bps(w.wanted)},
          {"tightened_bps", bps(w.tightened)},
          {"budget_bps", row.slot.budget.rate.bps},
          {"budget_validity_ns", row.slot.budget.validity.ns},
          {"budget_seq", row.slot.budget.seq}};
}

}  // namespace matchrdma::service
