#pragma once
// What the heap needs from a device: keys for memory. The verbs backend makes them with ibv_reg_mr and
// ibv_reg_dmabuf_mr; no type of verbs stands here.
#include <cstddef>
#include <cstdint>

#include "dataplane/base/result.h"
#include "host/fabric/nic.h"

namespace matchrdma::host {

/// Memory that is known by a file descriptor instead of pages of this process: GPU memory (H19).
struct Dmabuf {
  int fd = -1;
  uint64_t offset = 0;   ///< where in it the buffer begins
  uint64_t address = 0;  ///< what work requests call its first byte, commonly the GPU's own address
  size_t length = 0;
};

/// Duty: turns memory into a region and back. Called by one thread at a time per heap, from inside an
/// allocation: it must neither throw nor use the heap. It does not know what the memory is for.
class Registrar {
 public:
  virtual ~Registrar() = default;
  virtual Result<Region> add(void* p, size_t length) = 0;
  virtual Result<Region> add_dmabuf(const Dmabuf&) {
    return Error{"this device does not register dmabufs: hand over a pointer, or copy through host memory"};
  }
  virtual void remove(const Region& region) = 0;
};

/// A registered range of addresses, and what one may do with it.
struct Registration {
  uintptr_t begin = 0;
  size_t length = 0;
  Region region;
  bool host_readable = true;  ///< the CPU may read and write it: erasure coding and Hadamard need that (H19)

  bool holds(uintptr_t p, size_t n) const { return p >= begin && n <= length && p - begin <= length - n; }
};

}  // namespace matchrdma::host
