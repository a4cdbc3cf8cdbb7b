// `show flows` and `show unpaired`: what the filter lets through, in parts.
#include <algorithm>

#include "controlplane/service/view_json.h"
#include "dataplane/base/ip_text.h"

namespace matchrdma::service {
namespace {

bool matches(const FlowFilter& f, const FlowKey& k, Qpn sender, const char* state, const std::string& span) {
  if (f.ip && *f.ip != k.src && *f.ip != k.dst) return false;
  if (f.qpn && *f.qpn != k.dst_qpn && *f.qpn != sender) return false;
  if (!f.state.empty() && f.state != state) return false;
  return f.span.empty() || f.span == span;
}

Json key_json(const FlowKey& k) {
  return {{"src", ip_text(k.src)},
          {"dst", ip_text(k.dst)},
          {"dst_qpn", k.dst_qpn.v},
          {"vlan", k.vlan_outer},
          {"inner_vlan", k.vlan_inner}};
}

Json flow_json(const FlowRow& r) {
  const FlowView& v = r.flow;
  Json j = key_json(v.key);
  j["src_qpn"] = v.sender_qpn.v;
  j["span"] = r.span;
  j["worker"] = r.worker;
  j["role"] = v.source ? "source" : "destination";
  j["state"] = v.state;
  j["learned_by"] = learned_by_key(v.learned_by);
  j["activated"] = v.activated;
  j["untold"] = v.untold;
  j["base"] = v.base;
  j["expected"] = v.epsn;
  j["confirmed"] = v.confirmed_end;
  j["owned_packets"] = v.owned_packets;
  j["behind_gap"] = v.behind_gap;
  return j;
}

Json unpaired_row_json(const UnpairedRow& r) {
  Json j = key_json(r.report.key);
  j["span"] = r.span;
  j["worker"] = r.worker;
  j["why"] = unpaired_text(r.report.why);
  return j;
}

// `chosen` are all that match; told are at most kFlowsPerReply of them, from `filter.from` on.
template <typename T, typename F>
Json part(const char* name, const std::vector<const T*>& chosen, const FlowFilter& filter, Duration age,
          F&& row) {
  const uint64_t end = filter.top == 0 ? chosen.size() : std::min<uint64_t>(filter.top, chosen.size());
  const uint64_t stop = std::min(end, filter.from + kFlowsPerReply);
  Json rows = Json::array();
  for (uint64_t i = filter.from; i < stop; ++i) rows.push_back(row(*chosen[i]));
  return {{name, std::move(rows)},
          {"matching", chosen.size()},
          {"next", stop < end ? Json(stop) : Json(nullptr)},
          {"age_ns", age.ns}};
}

}  // namespace

Json flows_json(const DaemonView& v, const FlowFilter& filter) {
  std::vector<const FlowRow*> chosen;
  const FlowList none;
  const FlowList& list = v.flows ? *v.flows : none;
  for (const FlowRow& r : list.flows) {
    if (matches(filter, r.flow.key, r.flow.sender_qpn, r.flow.state, r.span)) chosen.push_back(&r);
  }
  if (filter.top != 0) {
    std::stable_sort(chosen.begin(), chosen.end(), [](const FlowRow* a, const FlowRow* b) {
      return a->flow.owned_packets > b->flow.owned_packets;
    });
  }
  return part("flows", chosen, filter, v.flows_age, flow_json);
}

Json unpaired_json(const DaemonView& v, const FlowFilter& filter) {
  std::vector<const UnpairedRow*> chosen;
  const FlowList none;
  const FlowList& list = v.flows ? *v.flows : none;
  for (const UnpairedRow& r : list.unpaired) {
    if (matches(filter, r.report.key, r.report.key.dst_qpn, "", r.span)) chosen.push_back(&r);
  }
  return part("unpaired", chosen, filter, v.flows_age, unpaired_row_json);
}

}  // namespace matchrdma::service
