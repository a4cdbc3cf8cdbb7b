#pragma once
#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "dataplane/base/check.h"
#include "dataplane/base/result.h"

namespace matchrdma::host {

/// Duty: which addresses of the heap are those of live objects, and of which size class: one byte for each
/// cache line, since no object is smaller. So free() tells a pointer of its own from one that was freed, points
/// into an object or is a stranger, in O(1) and in every build. A byte belongs to who owns the object. It does
/// not know what the classes mean.
class LiveObjects {
 public:
  static constexpr unsigned kLineBits = 6;
  static constexpr unsigned kGrain = 16;  ///< every object begins at a multiple of it

  /// For addresses [base, base + span). Its pages come into being as they are written.
  static Result<std::unique_ptr<LiveObjects>> create(uintptr_t base, size_t span) {
    const size_t bytes = span >> kLineBits;
    void* p =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
      return Error{"no room for " + std::to_string(bytes) +
                   " bytes that tell what the registered heap holds: lower the heap's limit"};
    }
    return std::unique_ptr<LiveObjects>(new LiveObjects(static_cast<uint8_t*>(p), base, span));
  }
  ~LiveObjects() { ::munmap(bytes_, span_ >> kLineBits); }
  LiveObjects(const LiveObjects&) = delete;
  LiveObjects& operator=(const LiveObjects&) = delete;

  void born(const void* p, uint8_t size_class) {
    const size_t offset = reinterpret_cast<uintptr_t>(p) - base_;
    MRDMA_CHECK(offset < span_);
    byte(offset).store(static_cast<uint8_t>(size_class << 2 | place(offset)), std::memory_order_relaxed);
  }
  /// The class it was born with.
  uint8_t size_class(const void* p) const {
    const size_t offset = reinterpret_cast<uintptr_t>(p) - base_;
    const bool in_heap = offset < span_;
    MRDMA_CHECK(in_heap && "this pointer was not allocated by this registered heap");
    const uint8_t b = byte(offset).load(std::memory_order_relaxed);
    const bool begins_here = b != 0 && (b & 3) == place(offset) && offset % kGrain == 0;
    MRDMA_CHECK(begins_here &&
                "no buffer of the registered heap begins here: freed twice, or a pointer into one");
    return static_cast<uint8_t>(b >> 2);
  }
  uint8_t died(const void* p) {
    const uint8_t c = size_class(p);
    byte(reinterpret_cast<uintptr_t>(p) - base_).store(0, std::memory_order_relaxed);
    return c;
  }

 private:
  LiveObjects(uint8_t* bytes, uintptr_t base, size_t span) : bytes_(bytes), base_(base), span_(span) {}
  static unsigned place(size_t offset) { return (offset >> 4) & 3; }
  std::atomic_ref<uint8_t> byte(size_t offset) const { return std::atomic_ref(bytes_[offset >> kLineBits]); }

  uint8_t* bytes_;
  uintptr_t base_;
  size_t span_;
};

}  // namespace matchrdma::host
