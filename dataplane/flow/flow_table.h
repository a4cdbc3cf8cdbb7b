#pragma once
// Key -> flow record, in arrays sized at start; beyond the limit flows stay transparent.
#include <cstdint>
#include <vector>

#include "dataplane/base/prefetch.h"
#include "dataplane/base/probe_table.h"
#include "dataplane/flow/flow_key.h"

namespace matchrdma {

using FlowIndex = uint32_t;
inline constexpr FlowIndex kNoFlow = 0xffffffff;

class FlowTable {
 public:
  explicit FlowTable(uint32_t max_flows) : slots_(max_flows), keys_(max_flows), used_(max_flows, false) {
    free_.reserve(max_flows);
    for (FlowIndex i = max_flows; i > 0; --i) free_.push_back(i - 1);
  }
  FlowIndex find(const FlowKey& k) const { return find(k, k.hash()); }
  /// `hash` is the key's.
  FlowIndex find(const FlowKey& k, uint64_t hash) const {
    return slots_.find(hash, Same{*this, k, hash}).index;
  }
  /// Index of the key, new or old; kNoFlow when the table is full. Indices of erased keys are given out again.
  FlowIndex insert(const FlowKey& k) {
    const uint64_t hash = k.hash();
    Slot& slot = slots_.find(hash, Same{*this, k, hash});
    if (!slot.empty() || free_.empty()) return slot.index;
    slot = {tag(hash), free_.back()};
    free_.pop_back();
    keys_[slot.index].key = k;
    used_[slot.index] = true;
    ++version_;
    return slot.index;
  }
  /// The index may be given to another key from now on.
  void erase(FlowIndex f) {
    const uint64_t hash = key(f).hash();
    slots_.erase(slots_.find(hash, Same{*this, key(f), hash}),
                 [this](const Slot& s) { return key(s.index).hash(); });
    used_[f] = false;
    free_.push_back(f);
    ++version_;
  }
  bool used(FlowIndex f) const { return used_[f]; }
  uint32_t size() const { return static_cast<uint32_t>(keys_.size() - free_.size()); }
  const FlowKey& key(FlowIndex f) const { return keys_[f].key; }
  /// What was found holds as long as this does not change.
  uint64_t version() const { return version_; }

  // A table beyond the caches is looked up in steps, each for a whole burst: the memory of a step is on its way
  // while the other packets take theirs.
  void prefetch_slot(uint64_t hash) const { prefetch_line(&slots_.home(hash)); }
  void prefetch_key(uint64_t hash) const {
    if (const Slot& s = slots_.home(hash); !s.empty()) prefetch_line(&keys_[s.index]);
  }

 private:
  struct Slot {
    uint32_t tag = 0;  ///< of the key's hash, so that other keys are seldom looked at
    FlowIndex index = kNoFlow;
    bool empty() const { return index == kNoFlow; }
  };
  struct alignas(64) Line {
    FlowKey key;
  };
  struct Same {
    const FlowTable& table;
    const FlowKey& wanted;
    uint64_t hash;
    bool operator()(const Slot& s) const { return s.tag == tag(hash) && table.key(s.index) == wanted; }
  };
  static uint32_t tag(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }
  ProbeTable<Slot> slots_;
  std::vector<Line> keys_;
  std::vector<bool> used_;
  std::vector<FlowIndex> free_;
  uint64_t version_ = 0;
};

}  // namespace matchrdma
