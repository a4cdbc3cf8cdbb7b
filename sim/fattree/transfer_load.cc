#include "sim/fattree/transfer_load.h"

#include <utility>

namespace matchrdma::sim {

TransferLoad::TransferLoad(Network& network, std::vector<Arrival> arrivals)
    : network_(network), arrivals_(std::move(arrivals)) {
  for (uint32_t h = 0; h < network.hosts(); ++h) network.host(h).listen(this);
  transfers_.reserve(arrivals_.size());
}

void TransferLoad::start() {
  started_ = network_.now();
  wait_for_next();
}

void TransferLoad::wait_for_next() {
  if (next_ < arrivals_.size()) network_.events().schedule(started_ + arrivals_[next_].at, *this, kArrival);
}

void TransferLoad::on_event(SimTime now, uint64_t argument) {
  if (argument != kArrival) return on_other_event(now, argument);
  const Arrival& a = arrivals_[next_++];
  transfers_.push_back({.source = a.source, .destination = a.destination, .bytes = a.bytes, .posted = now});
  ++open_;
  begin(static_cast<uint32_t>(transfers_.size() - 1), now);
  wait_for_next();
}

void TransferLoad::set_delivered(uint32_t transfer, SimTime now) {
  Transfer& t = transfers_[transfer];
  MRDMA_CHECK(t.delivered.is_never());
  t.delivered = now;
  if (!t.confirmed.is_never()) --open_;
}

void TransferLoad::set_confirmed(uint32_t transfer, SimTime now) {
  Transfer& t = transfers_[transfer];
  MRDMA_CHECK(t.confirmed.is_never());
  t.confirmed = now;
  if (!t.delivered.is_never()) --open_;
}

}  // namespace matchrdma::sim
