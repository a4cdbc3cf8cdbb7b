#include "host/flowcell/flowcell_receiver.h"

#include <algorithm>
#include <string>

namespace matchrdma::host {

FlowcellReceiver::FlowcellReceiver(const FlowcellShape& shape, Nic& nic)
    : shape_(shape), nic_(nic), slots_(shape.slots) {}

FlowcellReceiver::~FlowcellReceiver() {
  for (const Slot& s : slots_)
    if (s.used) nic_.remove_region(s.region);
}

Result<std::optional<CellGrant>> FlowcellReceiver::receive_post(MutableBytes buffer) {
  // A late tail must not pass for one of the slot's next message. There is always a slot: that of the message
  // before this one.
  const auto alike = [this](const Slot& s) {
    return s.has_been_used && (s.message - next_message_) % shape_.layout.generations() == 0;
  };
  const auto free =
      std::find_if(slots_.begin(), slots_.end(), [&](const Slot& s) { return !s.used && !alike(s); });
  if (free == slots_.end()) return std::optional<CellGrant>();
  auto region = nic_.add_region(buffer, Access::kRemoteWrite);
  if (!region) return Error{region.error()};
  *free = {
      .used = true, .has_been_used = true, .message = next_message_++, .buffer = buffer, .region = *region};
  return std::optional(CellGrant{free->message, static_cast<uint32_t>(free - slots_.begin()), region->rkey,
                                 region->remote, buffer.size()});
}

std::optional<FlowcellReceived> FlowcellReceiver::take_received() {
  if (received_.empty()) return {};
  const FlowcellReceived r = received_.front();
  received_.pop_front();
  return r;
}

size_t FlowcellReceiver::under_way() const {
  return static_cast<size_t>(std::count_if(slots_.begin(), slots_.end(), [](const Slot& s) { return s.used; }));
}

std::optional<uint32_t> FlowcellReceiver::slot_of(uint32_t immediate) const {
  const PacketTag t = shape_.layout.unpack(immediate);
  if (t.index == shape_.layout.last_index() || t.slot >= slots_.size()) return {};
  return t.slot;
}

Result<void> FlowcellReceiver::begin(Slot& s, const CellPlan& plan) const {
  if (plan.message != s.message || plan.length == 0 || plan.length > s.buffer.size() || plan.cell_bytes == 0 ||
      cells_of(plan.length, plan.cell_bytes) > shape_.layout.last_index())
    return Error{"the peer announces message " + std::to_string(plan.message) + " of " +
                 std::to_string(plan.length) + " bytes in cells of " + std::to_string(plan.cell_bytes) +
                 "; message " + std::to_string(s.message) + " with a buffer of " +
                 std::to_string(s.buffer.size()) + " is what was granted"};
  s.plan = plan;
  s.missing = cells_of(plan.length, plan.cell_bytes);
  s.cells.assign(s.missing, false);
  return {};
}

Result<void> FlowcellReceiver::on_tail(uint32_t immediate, const CellPlan& plan) {
  const auto slot = slot_of(immediate);
  if (!slot) {
    ++n_.probes;
    return {};
  }
  const PacketTag t = shape_.layout.unpack(immediate);
  Slot& s = slots_[*slot];
  const bool current =
      s.used && t.generation == (static_cast<uint32_t>(s.message) & (shape_.layout.generations() - 1));
  if (!current) {  // a copy whose message was complete before
    ++n_.stale;
    return {};
  }
  if (s.cells.empty())
    if (auto r = begin(s, plan); !r) return r;
  if (plan != s.plan || t.index >= s.cells.size())
    return Error{"the peer sends cell " + std::to_string(t.index) + " of message " + std::to_string(s.message) +
                 ", which has " + std::to_string(s.cells.size())};
  if (s.cells[t.index]) {
    ++n_.duplicates;
    return {};
  }
  s.cells[t.index] = true;
  ++n_.cells;
  if (--s.missing != 0) return {};
  nic_.remove_region(s.region);
  s.used = false;
  received_.push_back({s.message, s.plan.length});
  return {};
}

}  // namespace matchrdma::host
