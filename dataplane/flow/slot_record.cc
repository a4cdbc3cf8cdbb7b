#include "dataplane/flow/slot_record.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace matchrdma {
namespace {

void add_to(uint64_t& sum, uint64_t v) {
  sum = v > std::numeric_limits<uint64_t>::max() - sum ? std::numeric_limits<uint64_t>::max() : sum + v;
}

}  // namespace

void AckDelays::add(Duration delay, Instant at) {
  const auto ns = static_cast<uint64_t>(std::max<int64_t>(0, delay.ns));
  merge({.count = 1, .sum_ns = ns, .min_ns = ns, .max_ns = ns, .last_ns = ns, .last_at = at});
}

void AckDelays::merge(const AckDelays& o) {
  if (o.count == 0) return;
  if (count == 0) {
    *this = o;
    return;
  }
  add_to(count, o.count);
  add_to(sum_ns, o.sum_ns);
  min_ns = std::min(min_ns, o.min_ns);
  max_ns = std::max(max_ns, o.max_ns);
  if (std::pair(last_at, last_ns) < std::pair(o.last_at, o.last_ns)) {
    last_at = o.last_at;
    last_ns = o.last_ns;
  }
}

void SlotRecord::merge(const SlotRecord& o) {
  add_to(arrived_bytes, o.arrived_bytes);
  add_to(acked_bytes, o.acked_bytes);
  add_to(egress_bytes, o.egress_bytes);
  add_to(backlog_bytes, o.backlog_bytes);
  add_to(packets, o.packets);
  add_to(cnp_count, o.cnp_count);
  ack_delay.merge(o.ack_delay);
  acked_ns = std::max(acked_ns, o.acked_ns);
  busy_ns = std::max(busy_ns, o.busy_ns);
  add_to(busy_acked_bytes, o.busy_acked_bytes);
  held_ns = std::max(held_ns, o.held_ns);
  add_to(held_bytes, o.held_bytes);
  add_to(unacked_bytes, o.unacked_bytes);
  covered_ns = std::max(covered_ns, o.covered_ns);
}

SlotRecord SlotRecord::since(const SlotRecord& before) const {
  SlotRecord r = *this;
  r.arrived_bytes -= before.arrived_bytes;
  r.acked_bytes -= before.acked_bytes;
  r.egress_bytes -= before.egress_bytes;
  r.packets -= before.packets;
  r.cnp_count -= before.cnp_count;
  r.ack_delay.count -= before.ack_delay.count;
  r.ack_delay.sum_ns -= before.ack_delay.sum_ns;
  r.acked_ns -= before.acked_ns;
  r.busy_ns -= before.busy_ns;
  r.busy_acked_bytes -= before.busy_acked_bytes;
  r.held_ns -= before.held_ns;
  r.held_bytes -= before.held_bytes;
  return r;
}

SlotRecord SlotRecord::per(Duration slot) const {
  SlotRecord r = *this;
  const auto slot_ns = static_cast<uint64_t>(std::max<int64_t>(1, slot.ns));
  if (covered_ns <= slot_ns) return r;
  for (uint64_t* sum : {&r.arrived_bytes, &r.acked_bytes, &r.egress_bytes, &r.packets, &r.cnp_count, &r.busy_ns,
                        &r.busy_acked_bytes, &r.held_ns, &r.held_bytes}) {
    *sum = static_cast<uint64_t>(static_cast<unsigned __int128>(*sum) * slot_ns / covered_ns);
  }
  r.covered_ns = slot_ns;
  return r;
}

bool SlotRecord::empty() const {
  return arrived_bytes == 0 && acked_bytes == 0 && egress_bytes == 0 && backlog_bytes == 0;
}

}  // namespace matchrdma
