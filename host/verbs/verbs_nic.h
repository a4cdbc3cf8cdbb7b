#pragma once
// The NIC of this machine, through rdma-core: one code path for every device. No verbs types here.
#include <memory>
#include <string>

#include "host/fabric/nic.h"

namespace matchrdma::host {

struct VerbsOptions {
  std::string device{};  ///< as `rdma link` names it; empty: the first
  uint32_t port = 1;
  int gid_index = -1;                 ///< -1: a RoCE v2 GID, of an IPv4 address if there is one
  uint32_t completion_queue = 16384;  ///< entries, for all queue pairs together; less where the NIC has less
  uint8_t traffic_class = 0;
  /// Bytes that must be lockable for this user at the least; 0: do not look.
  uint64_t least_memlock = uint64_t{64} << 20;
};

struct VerbsNic {
  std::unique_ptr<Nic> nic;
  std::string summary;  ///< what was found, in one line
};

/// The error says what is missing and what to do.
Result<VerbsNic> open_verbs_nic(const VerbsOptions& options);

}  // namespace matchrdma::host
