#pragma once
// A heap's memory, registered with a Nic.
#include <span>

#include "host/fabric/nic.h"
#include "host/memory/registrar.h"

namespace matchrdma::host {

/// Duty: turns the heap's chunks into regions of one NIC, open for the peer's writes. The NIC must outlive the
/// heap.
class NicRegistrar final : public Registrar {
 public:
  explicit NicRegistrar(Nic& nic) : nic_(nic) {}
  Result<Region> add(void* p, size_t length) override {
    return nic_.add_region({static_cast<uint8_t*>(p), length}, Access::kRemoteWrite);
  }
  void remove(const Region& region) override { nic_.remove_region(region); }

 private:
  Nic& nic_;
};

}  // namespace matchrdma::host
