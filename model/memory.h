#pragma once
// Registered memory of a model host and the deterministic content of every byte that travels.
#include <cstdint>
#include <vector>

#include "dataplane/base/bytes.h"

namespace matchrdma::model {

/// Payload of the request with unwrapped PSN `seq` of the QP direction `key`: every receiver can compute it, so
/// every byte is verified without keeping what was sent.
class Content {
 public:
  Content(uint64_t key, int64_t seq) : x_(mix(key ^ (static_cast<uint64_t>(seq) * 0x9e3779b97f4a7c15ull))) {}
  void fill(MutableBytes out) const;
  bool equals(Bytes in) const;

 private:
  static constexpr uint64_t kStep = 0xd1b54a32d192ed03ull;
  static constexpr uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  uint64_t x_;
};

/// Where a registered region lies and what it holds at the start.
struct MemoryConfig {
  uint64_t base = 0x10000;
  uint32_t size = 64 * 1024;
  uint32_t rkey = 0x1234;
  uint64_t key = 1;  ///< of the starting content
};

/// One registered region, byte addressed.
class Memory {
 public:
  explicit Memory(const MemoryConfig& config);
  /// True when [va, va + length) lies inside and the key fits. A length of 0 touches nothing (IBA 9.7.4).
  bool allows(uint64_t va, uint64_t length, uint32_t rkey) const;
  /// Only where allows() holds.
  MutableBytes at(uint64_t va, uint32_t length) { return {bytes_.data() + (va - config_.base), length}; }
  Bytes at(uint64_t va, uint32_t length) const { return {bytes_.data() + (va - config_.base), length}; }
  uint64_t load64(uint64_t va) const;
  void store64(uint64_t va, uint64_t value);
  const MemoryConfig& config() const { return config_; }
  Bytes all() const { return {bytes_.data(), bytes_.size()}; }

 private:
  MemoryConfig config_;
  std::vector<uint8_t> bytes_;
};

/// The requester's idea of the responder's memory after all posted requests ran once, in order. Only one
/// requester may write the region.
class ShadowMemory {
 public:
  explicit ShadowMemory(const MemoryConfig& config);
  /// Bytes that work request `writer` will write; empty when the access is not allowed.
  MutableBytes write(uint64_t va, uint32_t length, uint32_t rkey, int64_t writer);
  uint64_t load64(uint64_t va) const { return memory_.load64(va); }
  /// True unless a byte differs that no request later than `reader` writes: a READ may legally see those later
  /// writes, since it is executed again on a retry, and ordering without a fence is not promised
  /// (IBA 10.8.3.3).
  bool could_read(uint64_t va, Bytes data, int64_t reader) const;
  const Memory& memory() const { return memory_; }

 private:
  static constexpr uint32_t kGrain = 64;
  Memory memory_;
  std::vector<int64_t> last_writer_;  // per kGrain bytes
};

}  // namespace matchrdma::model
