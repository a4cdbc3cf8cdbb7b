#pragma once
// What the C interface hands out as a NIC.
#include <memory>
#include <string>

#include "host/fabric/nic.h"

struct mrdma_nic {
  matchrdma::host::Nic* nic = nullptr;
  std::unique_ptr<matchrdma::host::Nic> own;  ///< empty: a model's
};

namespace matchrdma::host {

/// An RDMA device, or a sentence; without rdma-core in this build always the sentence.
Result<std::unique_ptr<Nic>> open_device(const std::string& device, int gid_index);

}  // namespace matchrdma::host
