#pragma once
// Cumulative counters that the peer writes one-sided: any write may be lost, late or half there (HOST.md,
// channel).
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "dataplane/base/bytes.h"
#include "host/fabric/nic.h"

namespace matchrdma::host {

/// What one WRITE carries: a number and what shows that both halves belong together, to this place and epoch.
struct CounterWrite {
  static constexpr size_t kBytes = 16;
  uint64_t value = 0, check = 0;

  static CounterWrite of(uint32_t epoch, uint32_t index, uint64_t value) {
    uint64_t z = value + 0x9e3779b97f4a7c15ull * (uint64_t{epoch} << 32 | index) + 1;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return {value, z ^ (z >> 31)};
  }
  void store(MutableBytes out) const {
    std::memcpy(out.data(), &value, sizeof value);
    std::memcpy(out.data() + sizeof value, &check, sizeof check);
  }
};

/// Duty: the memory of such counters for one epoch at a time, and what was last seen whole in it. Its key ends
/// with the epoch. Both ends must have the same byte order.
class CounterTable {
 public:
  CounterTable(Nic& nic, uint32_t counters) : nic_(nic), words_(2 * size_t{counters}), seen_(counters) {}
  ~CounterTable() { end(); }
  CounterTable(const CounterTable&) = delete;

  Result<void> begin(uint32_t epoch) {
    end();
    std::fill(words_.begin(), words_.end(), 0);
    std::fill(seen_.begin(), seen_.end(), 0);
    epoch_ = epoch;
    auto r = nic_.add_region({reinterpret_cast<uint8_t*>(words_.data()), words_.size() * sizeof(uint64_t)},
                             Access::kRemoteWrite);
    if (!r) return Error{r.error()};
    region_ = *r;
    return {};
  }
  /// Nothing is written any more; what was stays to be read.
  void end() {
    if (region_) nic_.remove_region(*region_);
    region_.reset();
  }
  const std::optional<Region>& region() const { return region_; }

  /// The highest that was seen whole in this epoch; 0 before the first.
  uint64_t read(uint32_t index, uint64_t& torn) {
    const uint64_t value = load(2 * size_t{index});
    if (value <= seen_[index]) return seen_[index];
    if (load(2 * size_t{index} + 1) != CounterWrite::of(epoch_, index, value).check) {
      ++torn;
    } else {
      seen_[index] = value;
    }
    return seen_[index];
  }

 private:
  // The NIC writes them.
  uint64_t load(size_t word) { return std::atomic_ref<uint64_t>(words_[word]).load(std::memory_order_acquire); }

  Nic& nic_;
  std::vector<uint64_t> words_;
  std::vector<uint64_t> seen_;
  uint32_t epoch_ = 0;
  std::optional<Region> region_;
};

}  // namespace matchrdma::host
