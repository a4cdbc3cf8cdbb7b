#include "controlplane/service/view_json.h"

#include "controlplane/service/slot_json.h"
#include "dataplane/base/ip_text.h"

namespace matchrdma::service {
namespace {

const char* side_key(Side s) { return s == Side::kLan ? "lan" : "wan"; }

template <typename T, typename F>
Json list_of(const std::vector<T>& items, F&& row) {
  Json out = Json::array();
  for (const T& item : items) out.push_back(row(item));
  return out;
}

Json counters_json(const Counters& c) {
  Json j = Json::object();
#define MATCHRDMA_X(member, kind, key, unit, help) j[key] = c.member;
  MATCHRDMA_COUNTERS(MATCHRDMA_X)
#undef MATCHRDMA_X
  return j;
}

Json reasons_json(const ReasonCounters& r) {
  Json j = Json::object();
  for (size_t i = 1; i < r.n.size(); ++i) {
    if (r.n[i] != 0) j[kReasonKeys[i]] = r.n[i];
  }
  return j;
}

Json latency_json(const TimeHistogram& h) {
  Json buckets = Json::array();
  for (size_t i = 0; i < TimeHistogram::kBuckets; ++i) {
    if (h.in_bucket(i) == 0) continue;
    const bool last = i == TimeHistogram::kBounds;
    buckets.push_back(
        {{"up_to_ns", last ? Json(nullptr) : Json(TimeHistogram::bound(i).ns)}, {"count", h.in_bucket(i)}});
  }
  return {{"samples", h.samples()}, {"sum_ns", h.sum_ns()}, {"buckets", std::move(buckets)}};
}

Json channel_json(const ChannelCounters& c) {
  return {{"sealed", c.sealed},
          {"no_session", c.no_session},
          {"unsealed", c.unsealed},
          {"unencodable", c.unencodable},
          {"opened", c.opened},
          {"truncated", c.truncated},
          {"foreign", c.foreign},
          {"stale_session", c.stale_session},
          {"bad_seal", c.bad_seal},
          {"replayed", c.replayed},
          {"broken_framing", c.broken_framing},
          {"wrong_queue", c.wrong_queue},
          {"unknown_type", c.messages.unknown_type},
          {"malformed", c.messages.malformed}};
}

Json worker_json(const WorkerView& w) {
  Json latencies = Json::object();
#define MATCHRDMA_X(field, key, help) latencies[key] = latency_json(w.latencies.field);
  MATCHRDMA_LATENCIES(MATCHRDMA_X)
#undef MATCHRDMA_X
  return {{"worker", w.worker},
          {"core", w.core},
          {"busy_cycles", w.busy_cycles},
          {"idle_cycles", w.idle_cycles},
          {"loops", w.loops},
          {"bursts", w.bursts},
          {"rx_packets", w.rx_packets},
          {"rx_bytes", w.rx_bytes},
          {"tx_packets", w.tx_packets},
          {"tx_bytes", w.tx_bytes},
          {"tx_drops", w.tx_drops},
          {"handed_over", w.handed_over},
          {"dispatch_drops", w.dispatch_drops},
          {"pool_buffers", w.pool_buffers},
          {"pool_free", w.pool_free},
          {"flows", w.flows},
          {"flow_limit", w.flow_limit},
          {"counters", counters_json(w.counters)},
          {"reasons", reasons_json(w.counters.reasons)},
          {"latencies", std::move(latencies)}};
}

Json port_json(const PortView& p) {
  return {{"name", p.name},
          {"span", p.span},
          {"side", side_key(p.side)},
          {"kind", p.kind},
          {"device", p.device},
          {"mac", p.mac},
          {"mtu", p.mtu},
          {"link_up", p.link_up},
          {"speed_bps", p.speed_bps},
          {"dispatch", dispatch_key(p.dispatch)},
          {"queues", p.queues},
          {"rx_packets", p.rx_packets},
          {"rx_bytes", p.rx_bytes},
          {"rx_missed", p.rx_missed},
          {"rx_errors", p.rx_errors},
          {"rx_no_buffer", p.rx_no_buffer},
          {"tx_packets", p.tx_packets},
          {"tx_bytes", p.tx_bytes},
          {"tx_errors", p.tx_errors}};
}

// null: not measured, never heard.
Json known_ns(bool known, Duration d) { return known ? Json(d.ns) : Json(nullptr); }

Json peer_json(const PeerView& p) {
  return {{"span", p.span},
          {"address", p.address},
          {"session", session_key(p.session)},
          {"key_id", p.key_id},
          {"key_rotation", p.key_rotation},
          {"last_heard_ns", known_ns(p.ever_heard, p.last_heard)},
          {"rtt_ns", known_ns(p.rtt.ns > 0, p.rtt)},
          {"version", p.version},
          {"peer_version", p.peer_version},
          {"trouble", p.trouble},
          {"sessions", p.sessions},
          {"restarts", p.restarts},
          {"hello_refused", p.hello_refused},
          {"channel", channel_json(p.channel)}};
}

Json budget_json(const BudgetView& b) {
  return {{"span", b.span},
          {"worker", b.worker},
          {"receiver", ip_text(b.group.dst)},
          {"vlan", b.group.vlan_outer},
          {"inner_vlan", b.group.vlan_inner},
          {"rate_bps", b.rate.bps},
          {"from_peer", b.from_peer},
          {"expired", b.expired},
          {"backlog_bytes", b.backlog_bytes},
          {"admitted_bytes", b.admitted_bytes}};
}

Json custody_row_json(const CustodyView& c) {
  return {{"worker", c.worker},
          {"soft_limit_bytes", c.soft_limit_bytes},
          {"hard_limit_bytes", c.hard_limit_bytes},
          {"bytes", c.bytes},
          {"peak_bytes", c.peak_bytes},
          {"gate_bytes", c.gate_bytes},
          {"held_bytes", c.held_bytes},
          {"owned_packets", c.owned_packets},
          {"oldest_ns", c.oldest.ns}};
}

}  // namespace

Json status_json(const DaemonView& v) {
  Json conditions = list_of(v.conditions, [](const Condition& c) {
    return Json{{"name", c.name}, {"holds", c.holds}, {"text", c.text}};
  });
  return {{"version", v.version},
          {"started_unix_s", v.started_unix_s},
          {"uptime_ns", v.uptime.ns},
          {"cycles_per_second", v.cycles_per_second},
          {"reloads", v.reloads},
          {"reloads_refused", v.reloads_refused},
          {"drain", drain_key(v.drain)},
          {"ready", v.ready()},
          {"conditions", std::move(conditions)}};
}

Json workers_json(const DaemonView& v) { return {{"workers", list_of(v.workers, worker_json)}}; }
Json ports_json(const DaemonView& v) { return {{"ports", list_of(v.ports, port_json)}}; }
Json peers_json(const DaemonView& v) { return {{"peers", list_of(v.peers, peer_json)}}; }
Json budgets_json(const DaemonView& v) { return {{"budgets", list_of(v.budgets, budget_json)}}; }
Json slots_json(const DaemonView& v) {
  Json rows = Json::array();
  for (const SpanSlots& s : v.slots) {
    for (const SlotRow& r : s.rows) rows.push_back(slot_json(s.span, s.slot, r));
  }
  return {{"slots", std::move(rows)}};
}
Json custody_json(const DaemonView& v) { return {{"custody", list_of(v.custody, custody_row_json)}}; }

}  // namespace matchrdma::service
