#pragma once
// The final word on one connection: did every request run once, in order, with the right bytes?
#include <string>

#include "dataplane/base/time.h"
#include "model/host.h"

namespace matchrdma::model {

struct AuditOptions {
  /// Everything posted must have completed with success and been executed. Off for connections that were failed
  /// or are still running: what was executed must then be a clean beginning of what was posted.
  bool complete = true;
  /// No request completes before the receiver executed it. Off where acknowledgements are given early.
  bool completion_after_execution = true;
};

/// Empty when all is well, else one complaint a line. Needs the responders' logs. Records kMemoryDiffers.
std::string audit(const QpPair& pair, const AuditOptions& options, Instant now);

}  // namespace matchrdma::model
