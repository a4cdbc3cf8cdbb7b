#include "sim/workload/workload.h"

#include <algorithm>

namespace matchrdma::sim {
namespace {

void number(std::vector<uint32_t>& qps, uint32_t qp, uint32_t flow) {
  qps.resize(std::max<size_t>(qps.size(), qp + 1));
  qps[qp] = flow;
}

}  // namespace

Workload::Workload(Network& network)
    : network_(network), flow_of_sender_(network.hosts()), flow_of_receiver_(network.hosts()) {
  for (uint32_t h = 0; h < network.hosts(); ++h) network.host(h).listen(this);
}

uint32_t Workload::add(const Flow& flow) {
  const auto n = static_cast<uint32_t>(flows_.size());
  number(flow_of_sender_[flow.source], flow.source_qp, n);
  number(flow_of_receiver_[flow.destination], flow.destination_qp, n);
  flows_.push_back({.flow = flow});
  return n;
}

size_t Workload::post(uint32_t flow, int64_t bytes) {
  const size_t n = messages_.size();
  messages_.push_back({.flow = flow, .bytes = bytes, .posted = network_.now()});
  flows_[flow].messages.push_back(n);
  ++outstanding_;
  network_.post(flows_[flow].flow, bytes);
  return n;
}

void Workload::settle(const MessageRecord& m) {
  if (!m.acknowledged.is_never() && !m.delivered.is_never()) --outstanding_;
}

void Workload::on_acknowledged(uint32_t host, uint32_t qp, size_t messages, SimTime now) {
  const uint32_t flow = flow_of_sender_[host][qp];
  for (; messages > 0; --messages) {
    State& s = flows_[flow];
    const size_t n = s.messages[s.acknowledged++];
    messages_[n].acknowledged = now;
    s.acknowledged_bytes += messages_[n].bytes;
    settle(messages_[n]);
    message_acknowledged(n, now);
  }
}

void Workload::on_delivered(uint32_t host, uint32_t qp, int64_t bytes, bool message_ended, SimTime now) {
  State& s = flows_[flow_of_receiver_[host][qp]];
  s.delivered_bytes += bytes;
  if (!message_ended) return;
  const size_t n = s.messages[s.delivered++];
  messages_[n].delivered = now;
  settle(messages_[n]);
  message_delivered(n, now);
}

}  // namespace matchrdma::sim
