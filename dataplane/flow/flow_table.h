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
  explicit FlowTable(uint32_t max_flows) {
    uint64_t slots = 16;
    while (slots < uint64_t{max_flows} * 2) slots *= 2;
    slots_.assign(slots, kNoFlow);
    keys_.reserve(max_flows);
    max_ = max_flows;
  }
  FlowIndex find(const FlowKey& k) const {
    for (uint64_t i = k.hash();; ++i) {
      const FlowIndex f = slots_[i & (slots_.size() - 1)];
      if (f == kNoFlow || keys_[f] == k) return f;
    }
  }
  /// Index of the key, new or old; kNoFlow when the table is full.
  FlowIndex insert(const FlowKey& k) {
    for (uint64_t i = k.hash();; ++i) {
      FlowIndex& f = slots_[i & (slots_.size() - 1)];
      if (f != kNoFlow && keys_[f] == k) return f;
      if (f != kNoFlow) continue;
      if (keys_.size() == max_) return kNoFlow;
      f = static_cast<FlowIndex>(keys_.size());
      keys_.push_back(k);
      return f;
    }
  }
  uint32_t size() const { return static_cast<uint32_t>(keys_.size()); }
  const FlowKey& key(FlowIndex f) const { return keys_[f]; }

 private:
  std::vector<FlowIndex> slots_;
  std::vector<FlowKey> keys_;
  uint32_t max_ = 0;
};

}  // namespace matchrdma
