#pragma once
// Key -> flow record. Open addressing over a fixed array sized at start; beyond the limit flows stay
// transparent.
#include <cstdint>
#include <vector>

#include "dataplane/flow/flow_key.h"

namespace matchrdma {

using FlowIndex = uint32_t;
inline constexpr FlowIndex kNoFlow = 0xffffffff;

class FlowTable {
 public:
  explicit FlowTable(uint32_t max_flows) : keys_(max_flows), used_(max_flows, false) {
    uint64_t slots = 16;
    while (slots < uint64_t{max_flows} * 2) slots *= 2;
    slots_.assign(slots, kNoFlow);
    free_.reserve(max_flows);
    for (FlowIndex i = max_flows; i > 0; --i) free_.push_back(i - 1);
  }
  FlowIndex find(const FlowKey& k) const { return slots_[slot_of(k)]; }
  /// Index of the key, new or old; kNoFlow when the table is full. Indices of erased keys are given out again.
  FlowIndex insert(const FlowKey& k) {
    FlowIndex& slot = slots_[slot_of(k)];
    if (slot != kNoFlow || free_.empty()) return slot;
    slot = free_.back();
    free_.pop_back();
    keys_[slot] = k;
    used_[slot] = true;
    return slot;
  }
  /// The index may be given to another key from now on.
  void erase(FlowIndex f) {
    uint64_t hole = slot_of(keys_[f]);
    used_[f] = false;
    free_.push_back(f);
    // Whoever stands behind the hole and could stand in it moves there: no tombstones, probes stay short.
    for (uint64_t i = next(hole); slots_[i] != kNoFlow; i = next(i)) {
      const uint64_t home = keys_[slots_[i]].hash() & mask();
      if (((i - home) & mask()) < ((i - hole) & mask())) continue;
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole] = kNoFlow;
  }
  bool used(FlowIndex f) const { return used_[f]; }
  uint32_t size() const { return static_cast<uint32_t>(keys_.size() - free_.size()); }
  const FlowKey& key(FlowIndex f) const { return keys_[f]; }

 private:
  uint64_t mask() const { return slots_.size() - 1; }
  uint64_t next(uint64_t slot) const { return (slot + 1) & mask(); }
  // Where the key stands, or the free slot where it would.
  uint64_t slot_of(const FlowKey& k) const {
    uint64_t i = k.hash() & mask();
    while (slots_[i] != kNoFlow && !(keys_[slots_[i]] == k)) i = next(i);
    return i;
  }
  std::vector<FlowIndex> slots_;
  std::vector<FlowKey> keys_;
  std::vector<bool> used_;
  std::vector<FlowIndex> free_;
};

}  // namespace matchrdma
