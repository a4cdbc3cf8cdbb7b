#pragma once
// The references: a transfer is one message on one connection, which the network sends where it will.
#include <cstdint>
#include <vector>

#include "sim/fattree/transfer_load.h"

namespace matchrdma::sim {

/// Duty: each transfer has a QP of its own, as the public simulators have it: new to ECMP and to DCQCN. QPs
/// that have nothing to do are used again under another label.
class SinglePathLoad final : public TransferLoad {
 public:
  SinglePathLoad(Network& network, std::vector<Arrival> arrivals, const SenderSettings& sender,
                 const ReceiverSettings& receiver);
  int64_t sent_again() const override;

 private:
  struct Connection {
    Flow flow;
    uint32_t transfer = 0;
  };
  void begin(uint32_t transfer, SimTime now) override;
  void on_acknowledged(uint32_t host, uint32_t qp, size_t messages, SimTime now) override;
  void on_delivered(uint32_t host, uint32_t qp, int64_t bytes, bool message_ended, SimTime now) override;
  uint32_t idle_connection(uint32_t source, uint32_t destination);
  size_t pair(uint32_t source, uint32_t destination) const {
    return size_t{source} * network().hosts() + destination;
  }

  SenderSettings sender_;
  ReceiverSettings receiver_;
  std::vector<Connection> connections_;
  std::vector<std::vector<uint32_t>> idle_;  ///< connections, by pair
  QpNumbers of_sender_, of_receiver_;
};

}  // namespace matchrdma::sim
