#pragma once
// The views as JSON, one function per `show`. Times in nanoseconds, sizes in bytes; the names end so.
#include "controlplane/service/daemon_view.h"
#include "controlplane/service/json_fields.h"
#include "controlplane/service/requests.h"

namespace matchrdma::service {

/// A reply tells so many flows at most; `next` says where the rest begins.
inline constexpr uint64_t kFlowsPerReply = 2000;

Json status_json(const DaemonView& v);
Json workers_json(const DaemonView& v);
Json ports_json(const DaemonView& v);
Json peers_json(const DaemonView& v);
Json budgets_json(const DaemonView& v);
Json slots_json(const DaemonView& v);
Json custody_json(const DaemonView& v);
Json flows_json(const DaemonView& v, const FlowFilter& filter);
Json unpaired_json(const DaemonView& v, const FlowFilter& filter);

}  // namespace matchrdma::service
