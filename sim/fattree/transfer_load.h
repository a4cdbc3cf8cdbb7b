#pragma once
// Transfers from host to host at given times, whatever carries them.
#include <cstdint>
#include <vector>

#include "sim/network.h"
#include "sim/workload/mixed_traffic.h"

namespace matchrdma::sim {

/// One transfer. A time that has not come is never.
struct Transfer {
  uint32_t source = 0, destination = 0;
  int64_t bytes = 0;
  SimTime posted{};
  SimTime delivered = SimTime::never();  ///< all bytes are at the receiver
  SimTime confirmed = SimTime::never();  ///< the sender knows
};

/// Duty: begins transfers at their times and keeps their record. How they are carried is decided by what
/// derives from it.
class TransferLoad : public HostListener, protected EventHandler {
 public:
  /// Listens at all hosts of the network.
  TransferLoad(Network& network, std::vector<Arrival> arrivals);
  virtual ~TransferLoad() = default;
  TransferLoad(const TransferLoad&) = delete;
  TransferLoad& operator=(const TransferLoad&) = delete;

  /// Arrivals count from now.
  void start();
  /// All are delivered and confirmed.
  bool done() const { return next_ == arrivals_.size() && open_ == 0; }
  const std::vector<Transfer>& transfers() const { return transfers_; }
  /// Payload bytes that were carried again by retransmission or as copies.
  virtual int64_t sent_again() const = 0;

 protected:
  /// Argument of the event that begins the next transfer; derived classes have all others.
  static constexpr uint64_t kArrival = ~uint64_t{0};
  virtual void begin(uint32_t transfer, SimTime now) = 0;
  virtual void on_other_event(SimTime, uint64_t) {}
  void set_delivered(uint32_t transfer, SimTime now);
  void set_confirmed(uint32_t transfer, SimTime now);
  const Transfer& transfer(uint32_t t) const { return transfers_[t]; }
  Network& network() { return network_; }
  const Network& network() const { return network_; }

 private:
  void on_event(SimTime now, uint64_t argument) final;
  void wait_for_next();

  Network& network_;
  std::vector<Arrival> arrivals_;
  std::vector<Transfer> transfers_;
  size_t next_ = 0, open_ = 0;
  SimTime started_{};
};

/// Which number of its owner's a QP has.
class QpNumbers {
 public:
  explicit QpNumbers(uint32_t hosts) : numbers_(hosts) {}
  void set(uint32_t host, uint32_t qp, uint32_t number) {
    if (numbers_[host].size() <= qp) numbers_[host].resize(qp + 1);
    numbers_[host][qp] = number;
  }
  uint32_t of(uint32_t host, uint32_t qp) const { return numbers_[host][qp]; }

 private:
  std::vector<std::vector<uint32_t>> numbers_;
};

}  // namespace matchrdma::sim
