#include "sim/workload/mixed_workload.h"

#include <algorithm>

namespace matchrdma::sim {

// No pair gets more QPs than it has messages.
void MixedWorkload::open(const Open& open) {
  std::map<Pair, uint32_t> messages_of;
  for (const Arrival& a : arrivals_) ++messages_of[{a.source, a.destination}];
  for (const auto& [pair, messages] : messages_of) {
    const uint32_t count = std::min(messages, s_.qps_per_pair);
    qps_[pair] = {static_cast<uint32_t>(flows()), count};
    for (uint32_t i = 0; i < count; ++i) add(open(pair.first, pair.second));
  }
  waiting_.assign(flows(), 0);
}

void MixedWorkload::start() {
  started_ = network().now();
  wait_for_next();
}

void MixedWorkload::wait_for_next() {
  if (next_ < arrivals_.size()) network().events().schedule(started_ + arrivals_[next_].at, *this);
}

// Of several the one that was opened first: which one is idle must not depend on chance.
uint32_t MixedWorkload::least_busy(const Qps& qps) const {
  const auto from = waiting_.begin() + qps.first;
  return qps.first + static_cast<uint32_t>(std::min_element(from, from + qps.count) - from);
}

void MixedWorkload::on_event(SimTime, uint64_t) {
  const Arrival& a = arrivals_[next_++];
  const uint32_t flow = least_busy(qps_[{a.source, a.destination}]);
  if (waiting_[flow] > 0) ++queued_;
  waiting_[flow] += a.bytes;
  post(flow, a.bytes);
  wait_for_next();
}

void MixedWorkload::message_acknowledged(size_t message, SimTime) {
  const MessageRecord& m = messages()[message];
  waiting_[m.flow] -= m.bytes;
}

}  // namespace matchrdma::sim
