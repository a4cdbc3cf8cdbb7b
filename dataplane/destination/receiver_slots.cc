#include "dataplane/destination/receiver_slots.h"

namespace matchrdma {

void ReceiverSlots::begin(EgressGroup& g, Instant now) {
  if (slot_.ns <= 0) return;
  if (metered_.empty()) end_ = end_after(now);
  g.metered = true;
  g.meter.begin(end_ - slot_);
  metered_.push_back(&g);
}

void ReceiverSlots::passed(EgressGroup& g, uint32_t bytes, Instant now) {
  arrived(g, bytes, now);
  g.meter.passed(bytes);
}

void ReceiverSlots::run(Instant now) {
  closed_.clear();
  if (metered_.empty() || now < end_) return;
  const int64_t slot = end_.ns / slot_.ns - 1;
  std::erase_if(metered_, [&](EgressGroup* g) {
    GroupSlot& s = closed_.emplace_back(
        GroupSlot{g->key, slot, false, g->meter.close(g->queued_bytes, g->unacked_bytes, end_)});
    g->metered = s.more = !s.record.empty() || g->unacked_bytes > 0;
    return !g->metered;
  });
  // Who is late has the next records cover more than one slot.
  end_ = end_after(now);
}

}  // namespace matchrdma
