#pragma once
// What the C interface hands out as a NIC.
#include <map>
#include <memory>
#include <string>

#include "host/fabric/nic.h"

struct mrdma_nic {
  matchrdma::host::Nic* nic = nullptr;
  std::unique_ptr<matchrdma::host::Nic> own;  ///< empty: a model's
  struct Registered {
    matchrdma::host::Region region;
    matchrdma::Bytes memory;
    size_t messages = 0;  ///< that are sent from it and under way
  };
  std::map<uint32_t, Registered> regions;  ///< of mrdma_register(), by handle
};

namespace matchrdma::host {

/// An RDMA device, or a sentence; without rdma-core in this build always the sentence.
Result<std::unique_ptr<Nic>> open_rdma_nic(const std::string& device, int gid_index);

}  // namespace matchrdma::host
