#pragma once
// From the id that a message names to its flow.
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "dataplane/base/check.h"
#include "dataplane/flow/flow_table.h"

namespace matchrdma {

/// Duty: finds the flow of an id. One cache line a lookup; sized at start for `max_flows` ids.
class IdIndex {
 public:
  explicit IdIndex(uint32_t max_flows, std::pmr::memory_resource* memory = std::pmr::get_default_resource())
      : entries_(memory) {
    uint64_t size = 16;
    while (size < uint64_t{max_flows} * 2) size *= 2;
    entries_.assign(size, Entry{});
  }
  FlowIndex find(FlowId id) const { return entries_[place(id.v)].flow; }
  void put(FlowId id, FlowIndex flow) {
    Entry& e = entries_[place(id.v)];
    if (e.flow == kNoFlow) ++used_;
    MRDMA_CHECK(used_ < entries_.size());
    e = {id.v, flow};
  }
  void erase(FlowId id) {
    uint64_t hole = place(id.v);
    if (entries_[hole].flow == kNoFlow) return;
    --used_;
    // As in FlowTable: whoever could stand in the hole moves there.
    for (uint64_t i = next(hole); entries_[i].flow != kNoFlow; i = next(i)) {
      if (((i - home(entries_[i].id)) & mask()) < ((i - hole) & mask())) continue;
      entries_[hole] = entries_[i];
      hole = i;
    }
    entries_[hole] = Entry{};
  }
  void prefetch(FlowId id) const { __builtin_prefetch(&entries_[home(id.v)]); }

 private:
  struct Entry {
    uint64_t id = 0;
    FlowIndex flow = kNoFlow;
  };
  uint64_t mask() const { return entries_.size() - 1; }
  uint64_t next(uint64_t i) const { return (i + 1) & mask(); }
  uint64_t home(uint64_t id) const { return ((id * 0x9e3779b97f4a7c15ull) >> 20) & mask(); }
  uint64_t place(uint64_t id) const {
    uint64_t i = home(id);
    while (entries_[i].flow != kNoFlow && entries_[i].id != id) i = next(i);
    return i;
  }
  std::pmr::vector<Entry> entries_;
  uint64_t used_ = 0;
};

}  // namespace matchrdma
