#include "host/flowcell/options.h"

#include <string>

#include "host/flowcell/cell_queue.h"

namespace matchrdma::host {
namespace {

constexpr uint32_t kMostPaths = 255;

Result<void> check_layout(const FlowcellShape& s) {
  const ImmediateLayout& l = s.layout;
  if (l.slot_bits + l.index_bits + l.generation_bits != 32 || l.slot_bits == 0 || l.index_bits == 0 ||
      l.generation_bits < ImmediateLayout::kLeastGenerationBits)
    return Error{"a layout of " + std::to_string(l.slot_bits) + ", " + std::to_string(l.index_bits) + " and " +
                 std::to_string(l.generation_bits) +
                 " bits: choose 1, 1 and 4 or more, 32 together (ImmediateLayout::of)"};
  if (s.slots == 0 || s.slots > 1u << l.slot_bits)
    return Error{std::to_string(s.slots) + " slots: choose 1 to " + std::to_string(1u << l.slot_bits) +
                 ", which the layout of the immediates has numbers for"};
  return {};
}

Result<void> check_queues(const FlowcellOptions& o) {
  if (o.receive_queue == 0) return Error{"a receive queue of 0: choose 1 or more"};
  if (o.shape.ring / 2 < o.receive_queue)
    return Error{"a ring of " + std::to_string(o.shape.ring) + " tokens: choose " +
                 std::to_string(uint64_t{2} * o.receive_queue) + " or more, twice the receive queue"};
  if (o.send_queue < CellQueue::kLeastSendQueue)
    return Error{"a send queue of " + std::to_string(o.send_queue) + ": choose " +
                 std::to_string(CellQueue::kLeastSendQueue) + " or more, for a cell beside its tokens"};
  return {};
}

}  // namespace

Result<void> check(const FlowcellOptions& o) {
  if (o.shape.paths == 0 || o.shape.paths > kMostPaths)
    return Error{std::to_string(o.shape.paths) + " paths: choose 1 path or more, " +
                 std::to_string(kMostPaths) + " at most"};
  if (o.shape.path_mtu == 0) return Error{"an MTU of 0: choose what the paths carry"};
  if (auto r = check_layout(o.shape); !r) return r;
  if (auto r = check_queues(o); !r) return r;
  if (o.least_cell == 0 || o.least_cell > o.most_cell || o.most_cell > uint64_t{1} << 31)
    return Error{"cells of " + std::to_string(o.least_cell) + " to " + std::to_string(o.most_cell) +
                 " bytes: choose 1 or more, the least first, 2 GiB at most"};
  if (o.rate.bps <= 0 || o.round_trip < Duration{})
    return Error{"a rate of " + std::to_string(o.rate.bps) + " bit/s and a round trip of " +
                 std::to_string(o.round_trip.ns) + " ns: guess something that can be"};
  return {};
}

}  // namespace matchrdma::host
