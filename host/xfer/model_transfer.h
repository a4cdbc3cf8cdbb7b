#pragma once
// A transfer between two ends in one process, over the model fabric: what a scheme does on a link that one can
// make up.
#include <functional>

#include "host/model_fabric/model_net.h"
#include "host/xfer/transfer.h"

namespace matchrdma::host {

struct ModelTransferSettings {
  XferSettings xfer;
  PathModel there, back;
  bool uc_here = true, uc_there = true;  ///< the NICs of the sender and of the receiver have UC
  uint64_t seed = 1;
  Duration patience = Duration::seconds(3600);  ///< virtual
};

struct ModelTransferResult {
  XferScheme scheme;  ///< that moved it
  Duration took;      ///< from the first packet until the sender had all its buffers back
  uint64_t packets = 0, resent = 0, lost = 0, decoded = 0, duplicates = 0, stale = 0;
  uint64_t missing_bytes = 0;
  std::vector<std::string> news{};  ///< what befell the paths, as the sender saw it
};

/// Moves `from` to `to`, which is as long. `progress`: bytes so far, now and then. Errors say what did not fit,
/// or what has not ended within the patience.
Result<ModelTransferResult> run_model_transfer(const ModelTransferSettings& settings, Bytes from,
                                               MutableBytes to, const std::function<void(uint64_t)>& progress);

}  // namespace matchrdma::host
