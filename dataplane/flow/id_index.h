#pragma once
// From the id that a message names to its flow.
#include <cstdint>

#include "dataplane/base/check.h"
#include "dataplane/base/prefetch.h"
#include "dataplane/base/probe_table.h"
#include "dataplane/flow/flow_table.h"

namespace matchrdma {

/// Duty: finds the flow of an id. One cache line a lookup; sized at start for `max_flows` ids.
class IdIndex {
 public:
  explicit IdIndex(uint32_t max_flows) : entries_(max_flows) {}
  FlowIndex find(FlowId id) const { return entries_.find(hash(id.v), Same{id.v}).flow; }
  void put(FlowId id, FlowIndex flow) {
    Entry& e = entries_.find(hash(id.v), Same{id.v});
    if (e.empty()) ++used_;
    MRDMA_CHECK(used_ < entries_.places());
    e = {id.v, flow};
  }
  void erase(FlowId id) {
    Entry& e = entries_.find(hash(id.v), Same{id.v});
    if (e.empty()) return;
    --used_;
    entries_.erase(e, [](const Entry& other) { return hash(other.id); });
  }
  void prefetch(FlowId id) const { prefetch_line(&entries_.home(hash(id.v))); }

 private:
  struct Entry {
    uint64_t id = 0;
    FlowIndex flow = kNoFlow;
    bool empty() const { return flow == kNoFlow; }
  };
  struct Same {
    uint64_t id;
    bool operator()(const Entry& e) const { return e.id == id; }
  };
  static uint64_t hash(uint64_t id) { return (id * 0x9e3779b97f4a7c15ull) >> 20; }
  ProbeTable<Entry> entries_;
  uint64_t used_ = 0;
};

}  // namespace matchrdma
