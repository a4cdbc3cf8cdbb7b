#include "dataplane/base/ip_text.h"
#include "pcap/trace_info.h"
#include "proxy/replay_report.h"

namespace matchrdma {
namespace {

using Json = nlohmann::ordered_json;

Json opcodes_json(const TraceCounts& t) {
  Json j = Json::object();
  for (size_t i = 0; i < t.opcodes.size(); ++i)
    if (t.opcodes[i] != 0) j[opcode_name(static_cast<uint8_t>(i))] = t.opcodes[i];
  return j;
}

Json flows_json(const ReplayResult& r) {
  Json flows = Json::array();
  for (size_t i = 0; i < r.streams.size(); ++i) {
    const TraceStream& s = r.streams[i];
    if (s.request_packets == 0) continue;
    Json f = {{"src", ip_text(s.key.src)},
              {"dst", ip_text(s.key.dst)},
              {"dst_qpn", s.key.dst_qpn.v},
              {"src_qpn", nullptr},
              {"learned_by", r.learned[i].by},
              {"path_mtu", nullptr},
              {"request_packets", s.request_packets},
              {"messages", s.messages},
              {"bytes", s.bytes},
              {"evidence", evidence_text(r, i)}};
    const SourceQp q = source_qp(r, i);
    if (q.qpn) f["src_qpn"] = q.qpn->v;
    f["src_qpn_from"] = !q.qpn ? Json(nullptr) : Json(q.by_proxies ? "proxies" : "capture");
    f["life"] = s.life;
    f["state"] = r.learned[i].state.empty() ? Json(nullptr) : Json(r.learned[i].state);
    f["why_not"] = r.learned[i].why_not.empty() ? Json(nullptr) : Json(r.learned[i].why_not);
    if (s.path_mtu != 0) f["path_mtu"] = s.path_mtu;
    flows.push_back(std::move(f));
  }
  return flows;
}

uint64_t sum(const ReplayResult& r, uint64_t Counters::*field) { return r.proxy[0].*field + r.proxy[1].*field; }

Json proxy_json(const ReplayResult& r) {
  Json bypassed = Json::object();
  for (size_t i = 1; i < kReasonKeys.size(); ++i) {
    const auto reason = static_cast<Reason>(i);
    const uint64_t n = r.proxy[0].reasons[reason] + r.proxy[1].reasons[reason];
    if (n != 0) bypassed[reason_key(reason)] = n;
  }
  return {{"pseudo_acks", sum(r, &Counters::pseudo_acks)},
          {"cnps", sum(r, &Counters::cnps)},
          {"naks_sent", sum(r, &Counters::naks_sent) + sum(r, &Counters::fault_naks)},
          {"real_acks_absorbed", sum(r, &Counters::real_acks_absorbed)},
          {"bypassed", std::move(bypassed)},
          {"real_naks_absorbed", sum(r, &Counters::real_naks_absorbed)},
          {"real_rnrs_absorbed", sum(r, &Counters::real_rnrs_absorbed)},
          {"custody_resends", sum(r, &Counters::custody_resends)},
          {"probes", sum(r, &Counters::probes)},
          {"pairs_learned", sum(r, &Counters::pairs_learned)},
          {"contradictions", sum(r, &Counters::contradictions)},
          {"faults", sum(r, &Counters::faults)},
          {"idle_fault_events", sum(r, &Counters::idle_fault_events)},
          {"behind_gap", r.behind_gap}};
}

Json delivery_json(const DeliveryReport& d) {
  return {{"requests_in", d.requests_in},
          {"requests_out", d.requests_out},
          {"in_order", d.requests_out == 0 ? Json(nullptr) : Json(d.in_order)},
          {"bytes_identical", d.requests_out == 0 ? Json(nullptr) : Json(d.bytes_identical)},
          {"lost", d.lost},
          {"gone_on_span", d.gone_on_span},
          {"copies", d.copies},
          {"read_copies_in", d.read_copies_in},
          {"read_copies_out", d.read_copies_out},
          {"responses_in", d.responses_in},
          {"responses_out", d.responses_out},
          {"responses_identical", d.responses_identical},
          {"bad_icrc_out", d.bad_icrc_out},
          {"unknown_out", d.unknown_out},
          {"aeth_above_fence", d.aeth_above_fence},
          {"aeth_not_owned", d.aeth_not_owned}};
}

Json percentiles_json(const Percentiles& p) {
  if (p.samples == 0) return {{"p50", nullptr}, {"p99", nullptr}, {"max", nullptr}, {"samples", 0}};
  const auto us = [](int64_t ns) { return static_cast<double>(ns) / 1000; };
  return {{"p50", us(p.p50)}, {"p99", us(p.p99)}, {"max", us(p.max)}, {"samples", p.samples}};
}

Json span_json(const SpanReport& s) {
  return {{"lost", s.lost},
          {"repaired", s.repaired},
          {"reordered", s.reordered},
          {"duplicated", s.duplicated},
          {"corrupted", s.corrupted},
          {"control_lost", s.control_lost},
          {"responses_lost", s.responses_lost},
          {"peak_queue_bytes", s.peak_queue_bytes}};
}

Json hosts_json(const ReplayResult& r) {
  Json hosts = Json::array();
  for (const HostReport& h : r.hosts)
    hosts.push_back({{"host", h.name},
                     {"site", site_letter(h.site)},
                     {"packets", h.packets},
                     {"shift_us", static_cast<double>(h.shift.ns) / 1000}});
  return hosts;
}

Json estimator_json(const ReplayOptions& o) {
  if (!o.estimator) return nullptr;
  const EstimatorSettings& e = *o.estimator;
  return {{"scheme", scheme_word(e.scheme)},
          {"slot_ns", e.slot.ns},
          {"line_rate_bps", e.line_rate.bps},
          {"queue_target_bytes", static_cast<uint64_t>(Scale(e).q_target)}};
}

Json budgets_json(const ReplayResult& r) {
  Json budgets = Json::array();
  for (const BudgetSummary& b : r.budgets)
    budgets.push_back({{"proxy", site_letter(b.site)},
                       {"receiver", ip_text(b.group.dst)},
                       {"vlan", b.group.vlan_outer},
                       {"inner_vlan", b.group.vlan_inner},
                       {"made", b.made},
                       {"lowest_bps", b.lowest.bps},
                       {"highest_bps", b.highest.bps}});
  return budgets;
}

}  // namespace

Json replay_json(const ReplayOptions& o, const ReplayResult& r) {
  const TraceCounts& t = r.trace;
  const auto peak = [&](uint64_t Counters::*field) { return std::max(r.proxy[0].*field, r.proxy[1].*field); };
  return {{"trace",
           {{"file", t.file},
            {"packets", t.packets},
            {"roce", t.roce},
            {"icrc_bad", t.icrc_bad},
            {"malformed", t.malformed},
            {"truncated", t.truncated},
            {"not_roce", t.not_roce}}},
          {"opcodes", opcodes_json(t)},
          {"flows", flows_json(r)},
          {"proxy", proxy_json(r)},
          {"delivery", delivery_json(r.delivery)},
          {"ack_latency_us",
           {{"with_proxy", percentiles_json(r.with_proxy)},
            {"without_proxy", percentiles_json(r.without_proxy)},
            {"by_receiver", percentiles_json(r.by_receiver)},
            {"by_proxy", percentiles_json(r.by_proxy)}}},
          {"custody_peak_bytes", peak(&Counters::custody_peak)},
          {"destination_peak_bytes", peak(&Counters::held_peak)},
          {"span", span_json(r.span)},
          {"unanswered", r.unanswered_requests + r.span.responses_lost},
          {"unanswered_requests", r.unanswered_requests},
          {"released_without_cause", r.released_without_cause},
          {"hosts", hosts_json(r)},
          {"budget_bps", o.budget.bps},
          {"estimator", estimator_json(o)},
          {"budgets", budgets_json(r)},
          {"distance_km", o.distance_km},
          {"virtual_time_us", static_cast<double>(r.virtual_time.ns) / 1000},
          {"warnings", r.warnings},
          {"seed", o.seed}};
}

}  // namespace matchrdma
