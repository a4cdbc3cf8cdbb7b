#pragma once
// Learner 1 of PROTOCOL 3: connection management tells both QPNs, both starting PSNs and the path MTU.
#include <optional>
#include <vector>

#include "dataplane/base/time.h"
#include "dataplane/flow/message.h"
#include "dataplane/wire/cm_mad.h"

namespace matchrdma {

/// Duty: joins a REQ with its REP. Bounded: beyond the limit the oldest connection attempt is forgotten, and
/// its flows are left to the other learners.
class CmLearner {
 public:
  static constexpr size_t kPending = 1024;
  static constexpr Duration kPatience = Duration::seconds(30);  ///< MRA may stretch a REP that far
  CmLearner() { pending_.reserve(kPending); }

  /// A CM MAD with right ICRC. The pair, local end first, when this is the REP of a REQ that passed here (RC
  /// only).
  std::optional<Registration> on_mad(const CmMad& mad, const Frame& f, bool from_lan, Instant now);
  /// REQs without their REP.
  size_t pending() const { return pending_.size(); }

 private:
  struct Request {
    IpAddress active, passive;
    uint16_t vlan_outer = 0, vlan_inner = 0;
    uint32_t id = 0;
    bool from_lan = false;
    bool contested = false;  ///< another REQ came under the same id: worthless until it is forgotten
    CmMad mad;
    Instant at;
  };
  bool is_for(const Request& r, const Frame& f, uint32_t id, bool from_active) const;
  std::vector<Request> pending_;  ///< in order of time
};

}  // namespace matchrdma
