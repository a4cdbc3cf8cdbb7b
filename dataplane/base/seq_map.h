#pragma once
// Packets by PSN where they do not come in order. A well-kept ordered map over a pool of nodes shared by the
// worker.
#include <cstdint>
#include <map>
#include <memory_resource>

#include "dataplane/base/types.h"

namespace matchrdma {

using NodePool = std::pmr::unsynchronized_pool_resource;
template <typename T>
using SeqMap = std::pmr::map<Seq, T>;

}  // namespace matchrdma
