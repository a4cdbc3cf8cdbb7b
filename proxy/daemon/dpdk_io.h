#pragma once
// A worker's ports, clock and sleep on DPDK: the Io of daemon::Worker.
#include <memory>
#include <vector>

#include "dataplane/flow/outbox.h"
#include "dataplane/io/clock.h"
#include "dataplane/io/dispatch.h"
#include "dataplane/io/idle.h"
#include "dataplane/io/port.h"

namespace matchrdma::daemon {

/// The two ports of a span.
struct PortPair {
  std::unique_ptr<io::Port> lan, wan;
  io::Port& of(Side side) const { return side == Side::kLan ? *lan : *wan; }
};
/// Packet::tag of what a port has received.
constexpr uint64_t port_tag(size_t span, Side side) { return span * 2 + (side == Side::kWan ? 1 : 0); }

/// Duty: bursts of one worker over all ports of the process. `dispatch`: null where every port spreads by
/// itself, or where there is one worker.
class DpdkIo {
 public:
  DpdkIo(uint16_t worker, const io::Clock& clock, const std::vector<PortPair>& ports, io::Dispatch* dispatch)
      : worker_(worker), clock_(clock), ports_(ports), dispatch_(dispatch) {}
  /// From now on the worker sleeps when it finds nothing.
  void sleep_with(io::Idle& idle) { idle_ = &idle; }

  Instant now() const { return clock_.now(); }
  uint32_t rx(size_t span, Side side, std::span<PacketRef> out) {
    const uint32_t n = ports_[span].of(side).rx_burst(worker_, out);
    return dispatch_ == nullptr || n == 0 ? n : dispatch_->sort(worker_, out.first(n));
  }
  /// What other workers have received for this one; Packet::tag tells the port.
  uint32_t handed(std::span<PacketRef> out) { return dispatch_ == nullptr ? 0 : dispatch_->take(worker_, out); }
  uint64_t dispatch_drops() const { return dispatch_ == nullptr ? 0 : dispatch_->dropped(worker_); }
  /// Returns how many left; the references are gone in any case.
  uint64_t tx(size_t span, Side side, bool control, std::span<PacketRef> packets) {
    uint64_t sent = 0;
    io::Port& port = ports_[span].of(side);
    for (size_t at = 0; at < packets.size(); at += io::Port::kMaxBurst) {
      const size_t n = std::min<size_t>(io::Port::kMaxBurst, packets.size() - at);
      sent += port.tx_burst(worker_, control ? io::Lane::kControl : io::Lane::kBulk, packets.subspan(at, n));
    }
    return sent;
  }
  void rest(Instant deadline) {
    if (idle_ != nullptr) idle_->wait(deadline);
  }
  void worked() {
    if (idle_ != nullptr) idle_->worked();
  }

 private:
  uint16_t worker_;
  const io::Clock& clock_;
  const std::vector<PortPair>& ports_;
  io::Dispatch* dispatch_;
  io::Idle* idle_ = nullptr;
};

}  // namespace matchrdma::daemon
