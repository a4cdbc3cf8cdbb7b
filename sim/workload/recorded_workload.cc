#include "sim/workload/recorded_workload.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "dataplane/base/check.h"

namespace matchrdma::sim {

RecordedWorkload::RecordedWorkload(Network& network, std::vector<RecordedMessage> recording,
                                   std::vector<uint32_t> hosts)
    : Workload(network), recording_(std::move(recording)), hosts_(std::move(hosts)) {
  std::stable_sort(recording_.begin(), recording_.end(),
                   [](const RecordedMessage& a, const RecordedMessage& b) { return a.start < b.start; });
  // A QP is its number between two endpoints, whichever of them the data comes from.
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, size_t> known;
  for (size_t i = 0; i < recording_.size(); ++i) {
    const RecordedMessage& m = recording_[i];
    MRDMA_CHECK(m.source < hosts_.size() && m.destination < hosts_.size() && m.bytes >= 0);
    const uint32_t from = m.read ? m.destination : m.source, to = m.read ? m.source : m.destination;
    const auto [it, fresh] = known.try_emplace({from, to, m.qp}, queues_.size());
    if (fresh) queues_.emplace_back();
    queues_[it->second].parts.push_back({.recorded = i});
  }
  for (Queue& q : queues_) link(q);
}

// Finds for each part what it waited for.
void RecordedWorkload::link(Queue& q) const {
  std::vector<std::pair<SimTime, size_t>> completions;
  for (size_t p = 0; p < q.parts.size(); ++p)
    completions.push_back({recording_[q.parts[p].recorded].completed, p});
  std::sort(completions.begin(), completions.end());
  size_t seen = 0, newest = kNone;
  for (size_t p = 0; p < q.parts.size(); ++p) {
    Part& part = q.parts[p];
    const SimTime start = recording_[part.recorded].start;
    for (; seen < completions.size() && completions[seen].first <= start && completions[seen].second < p;
         ++seen)
      newest = newest == kNone ? completions[seen].second : std::max(newest, completions[seen].second);
    part.waits_for = newest;
    const SimTime before = p > 0 ? recording_[q.parts[p - 1].recorded].start : recording_.front().start;
    const bool reacts = newest != kNone && recording_[q.parts[newest].recorded].completed > before;
    if (reacts) {
      part.after_completion = start - recording_[q.parts[newest].recorded].completed;
    } else {
      part.after_post = start - before;
    }
  }
}

void RecordedWorkload::open(const Open& open) {
  for (Queue& q : queues_) {
    uint32_t flow_of[2] = {~uint32_t{0}, ~uint32_t{0}};  // one way, and READs the other
    for (Part& part : q.parts) {
      const RecordedMessage& m = recording_[part.recorded];
      uint32_t& flow = flow_of[m.read ? 1 : 0];
      if (flow == ~uint32_t{0}) flow = add(open(hosts_[m.source], hosts_[m.destination]));
      part.flow = flow;
    }
  }
}

void RecordedWorkload::start() {
  started_ = network().now();
  for (uint32_t i = 0; i < queues_.size(); ++i) {
    queues_[i].posted = started_;
    arrange(i);
  }
}

// The next part has its time as soon as all that it waits for has happened.
void RecordedWorkload::arrange(uint32_t queue) {
  Queue& q = queues_[queue];
  if (q.pending || q.next == q.parts.size()) return;
  const Part& part = q.parts[q.next];
  SimTime at = q.posted + part.after_post;
  if (part.waits_for != kNone) {
    const SimTime completed = q.parts[part.waits_for].completed;
    if (completed.is_never()) return;
    at = std::max(at, completed + part.after_completion);
  }
  q.pending = true;
  network().events().schedule(at, *this, queue);
}

void RecordedWorkload::on_event(SimTime now, uint64_t argument) {
  if ((argument & kData) != 0) return post_part(requests_[argument & ~kData]);
  const auto queue = static_cast<uint32_t>(argument);
  Queue& q = queues_[queue];
  q.pending = false;
  q.posted = now;
  const Place at{queue, q.next++};
  const RecordedMessage& m = recorded(at);
  if (m.read) {
    const SimSpan both_ways = network().base_rtt(hosts_[m.destination], hosts_[m.source], 0);
    network().events().schedule(now + SimSpan{both_ways.ps / 2}, *this, kData | requests_.size());
    requests_.push_back(at);
  } else {
    post_part(at);
  }
  arrange(queue);
}

void RecordedWorkload::post_part(const Place& at) {
  places_.push_back(at);
  post(queues_[at.queue].parts[at.part].flow, std::max<int64_t>(recorded(at).bytes, 1));
}

void RecordedWorkload::complete(const Place& at, SimTime now) {
  queues_[at.queue].parts[at.part].completed = now;
  arrange(at.queue);
}

void RecordedWorkload::message_acknowledged(size_t message, SimTime now) {
  if (!recorded(places_[message]).read) complete(places_[message], now);
}

void RecordedWorkload::message_delivered(size_t message, SimTime now) {
  if (recorded(places_[message]).read) complete(places_[message], now);
}

}  // namespace matchrdma::sim
