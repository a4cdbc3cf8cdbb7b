#pragma once
// The loop of one worker lcore (ARCHITECTURE, threads): its ports, its span ends, its mailbox.
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "proxy/daemon/mailbox.h"
#include "proxy/daemon/span_end.h"

namespace matchrdma::daemon {

/// Written by the worker alone; read when the worker is asked for a report.
struct WorkerCounters {
  uint64_t busy_ns = 0, idle_ns = 0;
  uint64_t loops = 0, bursts = 0;
  uint64_t handed = 0;  ///< received by other workers for this one
  uint64_t rx_packets = 0, rx_bytes = 0, tx_packets = 0, tx_bytes = 0, tx_drops = 0;
};

/// What the loop needs of packet memory, ports and sleep; one type per kind, so that nothing is called
/// indirectly (law 3). `Io::rx(span, side, out)` and `Io::tx(span, side, control, packets)` as Port's bursts;
/// `handed(out)`: what other workers received for this one; `dispatch_drops()`: what was lost on the way to
/// them; `now()`; `rest(deadline)` sleeps or returns at
/// once; `worked()` is told after a round that found work.
template <class Io>
class Worker {
 public:
  Worker(uint16_t index, Io& io, size_t burst) : index_(index), io_(io), rx_(burst) {}

  void add(std::unique_ptr<SpanEnd> end) { ends_.push_back(std::move(end)); }
  SpanEnd& end(size_t span) { return *ends_[span]; }
  size_t ends() const { return ends_.size(); }
  Mailbox& mailbox() { return mailbox_; }
  uint16_t index() const { return index_; }
  const WorkerCounters& counters() const { return n_; }
  uint64_t dispatch_drops() const { return io_.dispatch_drops(); }

  void run(const std::atomic<bool>& stop) {
    Instant before = io_.now();
    while (!stop.load(std::memory_order_relaxed)) {
      const bool worked = round();
      const Instant after = io_.now();
      (worked ? n_.busy_ns : n_.idle_ns) += static_cast<uint64_t>((after - before).ns);
      before = after;
      if (worked) {
        io_.worked();
        continue;
      }
      io_.rest(next_wakeup());
      const Instant rested = io_.now();
      n_.idle_ns += static_cast<uint64_t>((rested - before).ns);
      before = rested;
    }
    mailbox_.drain();
  }

  /// One pass over everything; true when there was something to do.
  bool round() {
    ++n_.loops;
    bool worked = mailbox_.drain();
    const uint32_t handed = io_.handed(rx_);
    n_.handed += handed;
    for (uint32_t i = 0; i < handed; ++i) {
      const size_t s = rx_[i]->tag / 2;
      const Side side = rx_[i]->tag % 2 == 0 ? Side::kLan : Side::kWan;  // before the packet is given away
      take(s, side, std::move(rx_[i]));
    }
    for (size_t s = 0; s < ends_.size(); ++s) worked = serve(s) || worked;
    return worked;
  }
  Instant next_wakeup() const {
    Instant at = Instant::never();
    for (const auto& e : ends_) at = earlier(at, e->next_wakeup());
    return at;
  }

 private:
  bool serve(size_t s) {
    SpanEnd& e = *ends_[s];
    const uint32_t lan = io_.rx(s, Side::kLan, rx_);
    for (uint32_t i = 0; i < lan; ++i) take(s, Side::kLan, std::move(rx_[i]));
    const uint32_t wan = io_.rx(s, Side::kWan, rx_);
    if (lan + wan != 0) ++n_.bursts;
    for (uint32_t i = 0; i < wan; ++i) take(s, Side::kWan, std::move(rx_[i]));
    const Instant now = io_.now();
    const bool worked = lan + wan != 0 || e.has_input() || e.due(now);
    if (worked) e.run(now);
    send(s);
    return worked;
  }
  void run(size_t s) {
    ends_[s]->run(io_.now());
    send(s);
  }
  void send(size_t s) {
    send(s, Side::kWan, ends_[s]->wan());
    send(s, Side::kLan, ends_[s]->lan());
  }
  void send(size_t s, Side side, SpanEnd::Lanes& lanes) {
    for (auto* lane : {&lanes.control, &lanes.bulk}) {
      if (lane->empty()) continue;
      for (const PacketRef& p : *lane) n_.tx_bytes += p->size;
      const uint64_t sent = io_.tx(s, side, lane == &lanes.control, *lane);
      n_.tx_packets += sent;
      n_.tx_drops += lane->size() - sent;
      lane->clear();
    }
  }
  void take(size_t s, Side side, PacketRef p) {
    ++n_.rx_packets;
    n_.rx_bytes += p->size;
    if (side == Side::kLan ? ends_[s]->from_lan(std::move(p)) : ends_[s]->from_wan(std::move(p), io_.now()))
      run(s);
  }

  uint16_t index_;
  Io& io_;
  std::vector<std::unique_ptr<SpanEnd>> ends_;
  std::vector<PacketRef> rx_;
  Mailbox mailbox_;
  WorkerCounters n_;
};

}  // namespace matchrdma::daemon
