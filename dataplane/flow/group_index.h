#pragma once
// From a receiver to its number.
#include <cstdint>
#include <unordered_map>

#include "dataplane/flow/flow_key.h"

namespace matchrdma {

/// Duty: finds the budget group of a packet. Looked up only, never iterated.
class GroupIndex {
 public:
  /// nullptr: not known.
  const uint32_t* find(const GroupKey& key) const {
    const auto it = numbers_.find(key);
    return it == numbers_.end() ? nullptr : &it->second;
  }
  void add(const GroupKey& key, uint32_t number) { numbers_.emplace(key, number); }

 private:
  struct Hash {
    size_t operator()(const GroupKey& k) const {
      return FlowKey{{}, k.dst, {}, k.vlan_outer, k.vlan_inner, k.port_pair}.hash();
    }
  };
  std::unordered_map<GroupKey, uint32_t, Hash> numbers_;
};

}  // namespace matchrdma
