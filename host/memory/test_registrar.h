#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "host/memory/registrar.h"

namespace matchrdma::host::test {

/// A device that gives each range its own keys, reads and writes its first and last byte as a NIC might,
/// refuses to register a byte twice, and remembers what is registered.
class TestRegistrar final : public Registrar {
 public:
  Result<Region> add(void* p, size_t length) override {
    const std::lock_guard lock(mutex_);
    if (refuse_) return Error{"the test device is full"};
    const auto begin = reinterpret_cast<uintptr_t>(p);
    if (touch_) {
      auto* bytes = static_cast<volatile uint8_t*>(p);
      bytes[0] = bytes[length - 1];
    }
    return note(begin, length);
  }
  Result<Region> add_dmabuf(const Dmabuf& buffer) override {
    const std::lock_guard lock(mutex_);
    if (refuse_) return Error{"the test device is full"};
    return note(buffer.address, buffer.length);
  }
  void remove(const Region& region) override {
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(live_.erase(region.lkey), 1u) << "removed twice";
    ++removed_;
  }

  void refuse(bool yes) { refuse_ = yes; }
  void touch(bool yes) { touch_ = yes; }
  size_t live() const {
    const std::lock_guard lock(mutex_);
    return live_.size();
  }
  uint64_t added() const { return next_ - 1; }
  uint64_t removed() const { return removed_; }
  /// How many live regions hold the byte, and the key of the last of them.
  std::pair<int, uint32_t> holding(uintptr_t p) const {
    const std::lock_guard lock(mutex_);
    std::pair<int, uint32_t> found{0, 0};
    for (const auto& [key, range] : live_) {
      if (p >= range.first && p - range.first < range.second) found = {found.first + 1, key};
    }
    return found;
  }

 private:
  Region note(uintptr_t begin, size_t length) {
    for (const auto& [key, range] : live_) {
      EXPECT_TRUE(begin >= range.first + range.second || range.first >= begin + length) << "registered twice";
    }
    const uint32_t key = next_++;
    live_[key] = {begin, length};
    return Region{.handle = key, .lkey = key, .rkey = key | 0x80000000u, .remote = begin};
  }

  mutable std::mutex mutex_;
  bool refuse_ = false, touch_ = true;
  uint32_t next_ = 1;
  uint64_t removed_ = 0;
  std::map<uint32_t, std::pair<uintptr_t, size_t>> live_;
};

}  // namespace matchrdma::host::test
