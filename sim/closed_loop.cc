#include "sim/closed_loop.h"

#include <algorithm>

namespace matchrdma::sim {
namespace {

void number(std::vector<uint32_t>& qps, uint32_t qp, uint32_t flow) {
  qps.resize(std::max<size_t>(qps.size(), qp + 1));
  qps[qp] = flow;
}

}  // namespace

ClosedLoop::ClosedLoop(Network& network, const ClosedLoopSettings& settings)
    : network_(network), s_(settings), flow_of_sender_(network.hosts()), flow_of_receiver_(network.hosts()) {
  for (uint32_t h = 0; h < network.hosts(); ++h) network.host(h).listen(this);
}

void ClosedLoop::start(const Flow& flow) {
  const auto n = static_cast<uint32_t>(flows_.size());
  number(flow_of_sender_[flow.source], flow.source_qp, n);
  number(flow_of_receiver_[flow.destination], flow.destination_qp, n);
  flows_.push_back({.flow = flow});
  ++unfinished_;
  for (uint32_t i = 0; i < s_.outstanding; ++i) post(flows_.back());
}

void ClosedLoop::post(State& s) {
  if (s_.messages != 0 && s.posted == s_.messages) return;
  ++s.posted;
  s.not_acknowledged.push_back(network_.now());
  s.not_delivered.push_back(network_.now());
  network_.post(s.flow, s_.message_bytes);
}

void ClosedLoop::on_acknowledged(uint32_t host, uint32_t qp, size_t messages, SimTime now) {
  State& s = flows_[flow_of_sender_[host][qp]];
  for (; messages > 0; --messages) {
    s.times.at_sender.push_back(now - s.not_acknowledged.front());
    s.times.acknowledged_bytes += s_.message_bytes;
    s.not_acknowledged.pop_front();
    post(s);
  }
  if (s.not_acknowledged.empty()) --unfinished_;
}

void ClosedLoop::on_delivered(uint32_t host, uint32_t qp, int64_t bytes, bool message_ended, SimTime now) {
  State& s = flows_[flow_of_receiver_[host][qp]];
  s.times.delivered_bytes += bytes;
  if (!message_ended) return;
  s.times.at_receiver.push_back(now - s.not_delivered.front());
  s.not_delivered.pop_front();
}

}  // namespace matchrdma::sim
