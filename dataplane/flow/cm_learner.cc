#include "dataplane/flow/cm_learner.h"

#include <algorithm>

namespace matchrdma {

bool CmLearner::is_for(const Request& r, const Frame& f, uint32_t id, bool from_active) const {
  return r.id == id && f.source() == (from_active ? r.active : r.passive) &&
         f.destination() == (from_active ? r.passive : r.active) && f.vlan_id(0) == r.vlan_outer &&
         f.vlan_id(1) == r.vlan_inner;
}

std::optional<Registration> CmLearner::on_mad(const CmMad& mad, const Frame& f, bool from_lan, Instant now) {
  std::erase_if(pending_, [&](const Request& r) { return r.at + kPatience < now; });
  if (mad.attribute == CmMad::kReq) {
    const auto same = std::find_if(pending_.begin(), pending_.end(),
                                   [&](const Request& r) { return is_for(r, f, mad.local_id, true); });
    if (same != pending_.end()) {
      // A repeated REQ says the same again. One that says otherwise under the same id: nobody can tell which of
      // them a REP answers.
      same->contested =
          same->contested || same->mad.qpn != mad.qpn || same->mad.starting_psn != mad.starting_psn;
      return std::nullopt;
    }
    if (!mad.reliable_connected) return std::nullopt;
    if (pending_.size() == kPending) pending_.erase(pending_.begin());
    pending_.push_back(
        {f.source(), f.destination(), f.vlan_id(0), f.vlan_id(1), mad.local_id, from_lan, false, mad, now});
    return std::nullopt;
  }
  if (mad.attribute == CmMad::kRej) {
    std::erase_if(pending_, [&](const Request& r) { return is_for(r, f, mad.remote_id, false); });
    return std::nullopt;
  }
  if (mad.attribute != CmMad::kRep) return std::nullopt;
  const auto request = std::find_if(pending_.begin(), pending_.end(),
                                    [&](const Request& r) { return is_for(r, f, mad.remote_id, false); });
  // Both must have passed here, from opposite sides: only then are both hosts where we think they are.
  if (request == pending_.end() || request->from_lan == from_lan || request->contested) return std::nullopt;
  // Each names the PSN that it expects: where the other one begins (IBA 12.7, "Starting PSN"; seen in
  // captures).
  const Registration::End active{request->active, request->mad.qpn, true, mad.starting_psn, 0};
  const Registration::End passive{request->passive, mad.qpn, true, request->mad.starting_psn, 0};
  Registration p;
  p.a = request->from_lan ? active : passive;
  p.b = request->from_lan ? passive : active;
  p.vlan_outer = request->vlan_outer;
  p.vlan_inner = request->vlan_inner;
  p.path_mtu = request->mad.path_mtu;
  p.credits = request->mad.flow_control && mad.flow_control;
  pending_.erase(request);
  return p;
}

}  // namespace matchrdma
