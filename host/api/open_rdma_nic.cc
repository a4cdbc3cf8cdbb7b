#include "host/api/nic_handle.h"
#ifdef MATCHRDMA_HAS_VERBS
#include "host/verbs/verbs_nic.h"
#endif

namespace matchrdma::host {

#ifdef MATCHRDMA_HAS_VERBS
Result<std::unique_ptr<Nic>> open_rdma_nic(const std::string& device, int gid_index) {
  VerbsOptions o;
  o.device = device;
  o.gid_index = gid_index;
  auto opened = open_verbs_nic(o);
  if (!opened) return Error{opened.error()};
  return std::move(opened->nic);
}
#else
Result<std::unique_ptr<Nic>> open_rdma_nic(const std::string&, int) {
  return Error{"this library was built without rdma-core: install libibverbs-dev and build it again"};
}
#endif

}  // namespace matchrdma::host
