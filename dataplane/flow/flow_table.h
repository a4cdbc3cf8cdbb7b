#pragma once
// Key -> flow record. Open addressing over a fixed array sized at start; beyond the limit flows stay
// transparent.
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "dataplane/flow/flow_key.h"

namespace matchrdma {

using FlowIndex = uint32_t;
inline constexpr FlowIndex kNoFlow = 0xffffffff;

class FlowTable {
 public:
  explicit FlowTable(uint32_t max_flows, std::pmr::memory_resource* memory = std::pmr::get_default_resource())
      : slots_(memory), keys_(max_flows, memory), used_(max_flows, false), free_(memory) {
    uint64_t slots = 16;
    while (slots < uint64_t{max_flows} * 2) slots *= 2;
    slots_.assign(slots, Slot{});
    free_.reserve(max_flows);
    for (FlowIndex i = max_flows; i > 0; --i) free_.push_back(i - 1);
  }
  FlowIndex find(const FlowKey& k) const { return find(k, k.hash()); }
  /// `hash` is the key's.
  FlowIndex find(const FlowKey& k, uint64_t hash) const { return slots_[slot_of(k, hash)].index; }
  /// Index of the key, new or old; kNoFlow when the table is full. Indices of erased keys are given out again.
  FlowIndex insert(const FlowKey& k) {
    const uint64_t hash = k.hash();
    Slot& slot = slots_[slot_of(k, hash)];
    if (slot.index != kNoFlow || free_.empty()) return slot.index;
    slot = {tag(hash), free_.back()};
    free_.pop_back();
    keys_[slot.index].key = k;
    used_[slot.index] = true;
    ++version_;
    return slot.index;
  }
  /// The index may be given to another key from now on.
  void erase(FlowIndex f) {
    uint64_t hole = slot_of(key(f), key(f).hash());
    used_[f] = false;
    free_.push_back(f);
    ++version_;
    // Whoever stands behind the hole and could stand in it moves there: no tombstones, probes stay short.
    for (uint64_t i = next(hole); slots_[i].index != kNoFlow; i = next(i)) {
      const uint64_t home = key(slots_[i].index).hash() & mask();
      if (((i - home) & mask()) < ((i - hole) & mask())) continue;
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole] = Slot{};
  }
  bool used(FlowIndex f) const { return used_[f]; }
  uint32_t size() const { return static_cast<uint32_t>(keys_.size() - free_.size()); }
  const FlowKey& key(FlowIndex f) const { return keys_[f].key; }
  /// What was found holds as long as this does not change.
  uint64_t version() const { return version_; }

  // A table beyond the caches is looked up in steps, each for a whole burst: the memory of a step is on its way
  // while the other packets take theirs.
  void prefetch_slot(uint64_t hash) const { __builtin_prefetch(&slots_[hash & mask()]); }
  void prefetch_key(uint64_t hash) const {
    const Slot& s = slots_[hash & mask()];
    if (s.index != kNoFlow) __builtin_prefetch(&keys_[s.index]);
  }

 private:
  struct Slot {
    uint32_t tag = 0;  ///< of the key's hash, so that other keys are seldom looked at
    FlowIndex index = kNoFlow;
  };
  struct alignas(64) Line {
    FlowKey key;
  };
  static uint32_t tag(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }
  uint64_t mask() const { return slots_.size() - 1; }
  uint64_t next(uint64_t slot) const { return (slot + 1) & mask(); }
  // Where the key stands, or the free slot where it would.
  uint64_t slot_of(const FlowKey& k, uint64_t hash) const {
    uint64_t i = hash & mask();
    while (slots_[i].index != kNoFlow && !(slots_[i].tag == tag(hash) && key(slots_[i].index) == k))
      i = next(i);
    return i;
  }
  std::pmr::vector<Slot> slots_;
  std::pmr::vector<Line> keys_;
  std::vector<bool> used_;
  std::pmr::vector<FlowIndex> free_;
  uint64_t version_ = 0;
};

}  // namespace matchrdma
