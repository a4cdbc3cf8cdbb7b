#include "proxy/trace_truth_json.h"

#include "dataplane/base/ip_text.h"
#include "pcap/trace_info.h"

namespace matchrdma {
namespace {

using Json = nlohmann::ordered_json;

Json instant_json(Instant t) { return t.is_never() ? Json(nullptr) : Json(t.ns); }

Json end_json(const TraceEnd& e) {
  return Json{{"ip", ip_text(e.ip)},
              {"qpn", e.qpn.v},
              {"starting_psn", e.start.v},
              {"udp_source_port", e.udp_port},
              {"visible", e.visible},
              {"packets", e.packets},
              {"requests", e.requests},
              {"first_request_psn", e.first_request ? Json(e.first_request->v) : Json(nullptr)},
              {"first_seen_ns", instant_json(e.first_seen)}};
}

}  // namespace

nlohmann::ordered_json trace_truth_json(const TraceTruth& t) {
  Json pairs = Json::array();
  for (const TracePair& p : t.pairs)
    pairs.push_back(Json{{"host_pair", p.host_pair},
                         {"life", p.life},
                         {"a", end_json(p.a)},
                         {"b", end_json(p.b)},
                         {"path_mtu", p.path_mtu},
                         {"vlan_outer", p.vlan_outer},
                         {"vlan_inner", p.vlan_inner},
                         {"born_ns", instant_json(p.born)},
                         {"ended_ns", instant_json(p.ended)},
                         {"messages", p.messages},
                         {"retransmitted", p.retransmitted}});
  return Json{{"packets", t.packets},
              {"bytes", t.bytes},
              {"begin_ns", t.begin.ns},
              {"first_ns", t.packets == 0 ? Json(nullptr) : Json(t.first.ns)},
              {"last_ns", t.packets == 0 ? Json(nullptr) : Json(t.last.ns)},
              {"messages", t.messages},
              {"lost", t.lost},
              {"retransmitted", t.retransmitted},
              {"ce_marked", t.marked},
              {"cnps", t.cnps},
              {"hidden_packets", t.hidden},
              {"pairs", std::move(pairs)}};
}

}  // namespace matchrdma
