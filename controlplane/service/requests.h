#pragma once
// Requests of the admin protocol, from JSON to the types of DaemonControl. docs/admin.md describes them.
#include <optional>

#include "controlplane/service/admin_version.h"
#include "controlplane/service/daemon_control.h"
#include "controlplane/service/json_fields.h"

namespace matchrdma::service {

/// How long a client waits for what both proxies have to acknowledge.
struct Patience {
  Duration wait;
};
struct PairCommand {
  PairRequest pair;
  Patience patience;
};

/// Which flows to show, and how many.
struct FlowFilter {
  std::optional<IpAddress> ip;  ///< of either end
  std::optional<Qpn> qpn;       ///< of either end
  std::string state;
  std::string span;
  uint64_t top = 0;   ///< 0: all, in order; otherwise those that own most
  uint64_t from = 0;  ///< first of them to tell: a long list comes in parts
};

// `f` has taken "v" and "cmd"; each of these calls done().
Result<PairCommand> read_pair(Fields& f);
Result<ModeRequest> read_mode(Fields& f);
Result<CaptureRequest> read_capture(Fields& f);
Result<FlowFilter> read_flow_filter(Fields& f);
/// Takes "wait_ms".
Patience read_patience(Fields& f);

}  // namespace matchrdma::service
