#pragma once
// How long a cell is (HOST.md, flowcell; RDMACell, papers/002).
#include <algorithm>
#include <cstdint>

namespace matchrdma::host {

/// 1.5 x BDP of the path at the rate of its link, but no more than passes in half a round trip at the rate that
/// it has: four fit into the window (PathMeter), and two more; within the limits, and a multiple of the MTU.
/// Bytes.
inline uint64_t cell_size(double link_bdp, double bdp, uint32_t mtu, uint64_t least, uint64_t most) {
  const double wanted = std::min(1.5 * link_bdp, bdp / 2);
  const double bytes = std::clamp(wanted, static_cast<double>(least), static_cast<double>(most));
  return std::max<uint64_t>(static_cast<uint64_t>(bytes) / mtu, 1) * mtu;
}

}  // namespace matchrdma::host
