#include "dataplane/destination/receiver_slots.h"

#include <algorithm>

namespace matchrdma {

void ReceiverSlots::begin(EgressGroup& g, Instant now) {
  if (slot_.ns <= 0) return;
  if (metered_.empty()) {
    end_ = end_after(now);
    look_at_ = Instant::never();
    began_ = true;
  }
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
  } else if (!began_) {
    return;
  }
  began_ = false;
  const Duration part = slot_ / kLooks;
  look_at_ = rtt < slot_ ? end_ - part * ((end_ - now).ns / part.ns) : Instant::never();
  if (look_at_ <= now) look_at_ = look_at_ + part;
}

void ReceiverSlots::close() {
  std::erase_if(metered_, [&](EgressGroup* g) {
    GroupSlot& s = closed_.emplace_back(
        GroupSlot{g->key, number(), false, g->meter.close(g->backlog_bytes(), g->unacked_bytes, end_)});
    g->repair_bytes -= g->repair_bytes / static_cast<uint64_t>(std::max<int64_t>(kForget.ns / slot_.ns, 1));
    g->metered = s.more = !s.record.empty() || g->unacked_bytes > 0;
    return !g->metered;
  });
}

void ReceiverSlots::look(Instant now) {
  for (EgressGroup* g : metered_) {
    const bool strained = g->meter.strained();
    const SlotRecord seen = g->meter.look(g->backlog_bytes(), g->unacked_bytes, now);
    if (strained) looked_.push_back({g->key, number(), true, seen});
  }
}

}  // namespace matchrdma
