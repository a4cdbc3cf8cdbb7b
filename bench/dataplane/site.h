#pragma once
// One proxy on ports in memory: what matchrdmad's worker runs, without threads and without a network.
#include <memory>
#include <string>
#include <vector>

#include "bench/span_ports.h"
#include "dataplane/io/clock.h"
#include "dataplane/io/ring/primitives.h"
#include "dataplane/io/ring/ring_port.h"
#include "proxy/daemon/peer_link.h"
#include "proxy/daemon/worker.h"

namespace matchrdma::dataplane_bench {

inline constexpr uint32_t kBurst = 32;  ///< packets of one round and port

/// Duty: the time of one proxy. It passes while the proxy's rounds are measured, and by what is added: as if
/// the worker were busy all the time and nothing else existed.
class SiteClock {
 public:
  explicit SiteClock(const io::Clock& clock) : clock_(clock) {}
  Instant now() const { return running_ ? at_ + (clock_.now() - began_) : at_; }
  void resume() {
    began_ = clock_.now();
    running_ = true;
  }
  void pause() {
    at_ = now();
    running_ = false;
  }
  void add(Duration d) { at_ = at_ + d; }

 private:
  const io::Clock& clock_;
  Instant at_{1'000'000'000}, began_;
  bool running_ = false;
};

/// DpdkIo at the site's time.
class BenchIo : public daemon::DpdkIo {
 public:
  BenchIo(const SiteClock& time, const io::Clock& clock, const std::vector<daemon::PortPair>& ports)
      : DpdkIo(0, clock, ports, nullptr), time_(time) {}
  Instant now() const { return time_.now(); }

 private:
  const SiteClock& time_;
};

struct SiteOptions {
  std::string name;
  uint8_t own = 1, peer = 2;  ///< last bytes of the control addresses
  uint32_t mtu = 0;
  uint32_t pool_packets = 0;
  ShardConfig shard;
};

class Site {
 public:
  static Result<std::unique_ptr<Site>> create(const SiteOptions& o, const io::Clock& clock);
  /// The ports go before the rings below them, and both before the memory of the packets in them.
  ~Site() {
    worker_.reset();
    at_.ports.clear();
  }

  /// Rounds until nothing waits at the ports; TSC cycles that they took. `between` is called after each round,
  /// in no time: what the others do meanwhile.
  template <typename Between>
  uint64_t work(Between&& between) {
    uint64_t cycles = 0;
    do {
      cycles += round();
      between();
    } while (lan_->waiting() + wan_->waiting() != 0);
    return cycles;
  }
  uint64_t work() {
    return work([] {});
  }
  /// TSC cycles of one round.
  uint64_t round() {
    time_.resume();
    const uint64_t begin = io::tsc();
    worker_->round();
    const uint64_t cycles = io::tsc() - begin;
    time_.pause();
    return cycles;
  }
  io::MbufPool& pool() { return *at_.pool; }
  io::RingPort& lan() { return *lan_; }
  io::RingPort& wan() { return *wan_; }
  SiteClock& clock() { return time_; }
  daemon::SpanEnd& end() { return worker_->end(0); }
  const Counters& counters() { return end().shard().counters(); }
  daemon::PeerLink& link() { return *link_; }
  /// Packets that were lost at a port.
  uint64_t drops() const { return worker_->counters().tx_drops; }

 private:
  explicit Site(const io::Clock& clock) : clock_(clock), time_(clock) {}
  Result<void> open_ports(const SiteOptions& o);
  void make_worker(const SiteOptions& o);

  const io::Clock& clock_;
  SiteClock time_;
  SpanPorts at_;
  std::unique_ptr<io::RingPort> lan_, wan_;
  std::unique_ptr<BenchIo> io_;
  std::unique_ptr<daemon::Worker<BenchIo>> worker_;
  std::unique_ptr<daemon::PeerLink> link_;
};

}  // namespace matchrdma::dataplane_bench
