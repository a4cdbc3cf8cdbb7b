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

void ReceiverSlots::run(Instant now, Duration rtt) {
  closed_.clear();
  looked_.clear();
  if (metered_.empty()) return;
  if (now >= end_) {
    close();
    // Who is late has the next records cover more than one slot.
    end_ = end_after(now);
  } else if (look_at_ <= now) {
    look(now);
  }
  const Duration part = slot_ / kLooks;
  look_at_ = rtt < slot_ ? end_ - part * ((end_ - now).ns / part.ns) : Instant::never();
  if (look_at_ <= now) look_at_ = look_at_ + part;
}

void ReceiverSlots::close() {
  const int64_t slot = end_.ns / slot_.ns - 1;
  std::erase_if(metered_, [&](EgressGroup* g) {
    GroupSlot& s = closed_.emplace_back(
        GroupSlot{g->key, slot, false, g->meter.close(g->queued_bytes, g->unacked_bytes, end_)});
    g->metered = s.more = !s.record.empty() || g->unacked_bytes > 0;
    return !g->metered;
  });
}

void ReceiverSlots::look(Instant now) {
  const int64_t slot = end_.ns / slot_.ns - 1;
  for (EgressGroup* g : metered_) {
    const bool strained = g->meter.strained();
    const SlotRecord seen = g->meter.look(g->queued_bytes, g->unacked_bytes, now);
    if (strained) looked_.push_back({g->key, slot, true, seen});
  }
}

}  // namespace matchrdma
