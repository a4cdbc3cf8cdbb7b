#include "sim/fattree/single_path_load.h"

#include <utility>

namespace matchrdma::sim {

SinglePathLoad::SinglePathLoad(Network& network, std::vector<Arrival> arrivals, const SenderSettings& sender,
                               const ReceiverSettings& receiver)
    : TransferLoad(network, std::move(arrivals)),
      sender_(sender),
      receiver_(receiver),
      idle_(size_t{network.hosts()} * network.hosts()),
      of_sender_(network.hosts()),
      of_receiver_(network.hosts()) {}

uint32_t SinglePathLoad::idle_connection(uint32_t source, uint32_t destination) {
  std::vector<uint32_t>& idle = idle_[pair(source, destination)];
  if (!idle.empty()) {
    const uint32_t c = idle.back();
    idle.pop_back();
    network().renew(connections_[c].flow);
    return c;
  }
  const Flow f = network().open(source, destination, sender_, receiver_);
  const auto c = static_cast<uint32_t>(connections_.size());
  connections_.push_back({f});
  of_sender_.set(source, f.source_qp, c);
  of_receiver_.set(destination, f.destination_qp, c);
  return c;
}

void SinglePathLoad::begin(uint32_t t, SimTime) {
  const uint32_t c = idle_connection(transfer(t).source, transfer(t).destination);
  connections_[c].transfer = t;
  network().post(connections_[c].flow, transfer(t).bytes);
}

void SinglePathLoad::on_acknowledged(uint32_t host, uint32_t qp, size_t, SimTime now) {
  const uint32_t c = of_sender_.of(host, qp);
  const Connection& connection = connections_[c];
  set_confirmed(connection.transfer, now);
  idle_[pair(host, connection.flow.destination)].push_back(c);
}

void SinglePathLoad::on_delivered(uint32_t host, uint32_t qp, int64_t, bool message_ended, SimTime now) {
  if (message_ended) set_delivered(connections_[of_receiver_.of(host, qp)].transfer, now);
}

int64_t SinglePathLoad::sent_again() const {
  int64_t bytes = 0;
  for (const Connection& c : connections_)
    bytes += network().host(c.flow.source).sender(c.flow.source_qp).sent_again();
  return bytes;
}

}  // namespace matchrdma::sim
