#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "bench/cores/cores.h"
#include "bench/span_ports.h"
#include "proxy/daemon/dpdk_io.h"
#include "proxy/daemon/report.h"
#include "proxy/daemon/worker.h"

namespace matchrdma::cores_bench {
namespace {

using daemon::DpdkIo;
using Worker = daemon::Worker<DpdkIo>;

constexpr uint32_t kFlows = 64, kCirculating = 256, kPayload = 1024, kMtu = 1500;

/// A worker with a span of its own. What its ports send comes back to them (net_ring), so the same packets are
/// forwarded from LAN to WAN and back for ever.
class Lane {
 public:
  static Result<std::unique_ptr<Lane>> make(uint16_t number, const io::Clock& clock) {
    std::unique_ptr<Lane> lane(new Lane(clock));
    if (auto r = lane->open(number); !r) return Error{r.error()};
    return lane;
  }
  void run() {
    stop_ = false;
    worker_->run(stop_);
  }
  void stop() { stop_ = true; }
  /// A number that only the worker may read, which runs.
  template <class F>
  double ask(F f) {
    std::atomic<double> answer = 0;
    std::atomic<bool> there = false;
    worker_->mailbox().post([&] {
      answer = static_cast<double>(f());
      there = true;
    });
    while (!there) std::this_thread::yield();
    return answer;
  }
  double forwarded() {
    return ask([this] { return worker_->counters().tx_packets; });
  }
  double lost() {
    return ask([this] { return worker_->counters().tx_drops; });
  }
  double report_ns() {
    return ask([this] {
      const Instant before = io_->now();
      const auto r = daemon::report(*worker_, names_, before);
      const auto ns = static_cast<double>((io_->now() - before).ns);
      MRDMA_CHECK(r.spans.size() == 1);
      return ns;
    });
  }
  /// So that there is something in its list; nobody is at the other end of the span.
  void register_pairs() {
    const double taken = ask([this] {
      int n = 0;
      for (uint32_t i = 0; i < kFlows; ++i) {
        Registration r;
        r.a = {IpAddress::v4(std::array<uint8_t, 4>{10, 2, 0, 1}.data()), Qpn{100 + i}};
        r.b = {IpAddress::v4(std::array<uint8_t, 4>{10, 2, 1, 1}.data()), Qpn{100 + i}};
        r.path_mtu = kPayload;
        n += worker_->end(0).register_qp(r, io_->now()) == Registered::kYes ? 1 : 0;
      }
      return n;
    });
    MRDMA_CHECK(taken == kFlows);
  }
  double flow_ns() {
    return ask([this] {
      daemon::FlowWalk walk(0);
      const Instant before = io_->now();
      while (!walk.step(*worker_, names_, before)) {
      }
      const auto ns = static_cast<double>((io_->now() - before).ns);
      MRDMA_CHECK(walk.flows.size() >= kFlows);
      return ns / static_cast<double>(walk.flows.size());
    });
  }

 private:
  explicit Lane(const io::Clock& clock) : clock_(clock) {}

  Result<void> open(uint16_t number) {
    const std::string n = std::to_string(number);
    io::PortOptions o;
    o.mtu = kMtu;
    auto opened = open_span_ports("lane" + n, 8192, "net_ring" + std::to_string(2 * number),
                                  "net_ring" + std::to_string(2 * number + 1), o);
    if (!opened) return Error{opened.error()};
    at_ = std::move(*opened);
    io_ = std::make_unique<DpdkIo>(uint16_t{0}, clock_, at_.ports, nullptr);
    worker_ = std::make_unique<Worker>(uint16_t{0}, *io_, kBurst);
    daemon::SpanEndConfig c;
    c.shard.limits.max_flows = 1024;
    worker_->add(std::make_unique<daemon::SpanEnd>(c, *at_.pool, daemon::SpanEndHooks{}));
    return fill();
  }
  Result<void> fill() {
    for (uint32_t i = 0; i < kCirculating; ++i) {
      std::array<PacketRef, 1> one{
          write_packet(1, static_cast<uint8_t>(1 + i % 8), 2 + i % kFlows, kPayload, *at_.pool)};
      if (at_.ports[0].lan->tx_burst(0, io::Lane::kBulk, one) != 1)
        return Error{"a port in memory takes no packets"};
    }
    return {};
  }

  const io::Clock& clock_;
  SpanPorts at_;
  std::unique_ptr<DpdkIo> io_;
  std::unique_ptr<Worker> worker_;
  std::vector<std::string> names_{"span"};
  std::atomic<bool> stop_{false};
};

/// Packets/s of the lanes that run, in the order of `lanes`.
std::vector<double> round_of(io::Eal& eal, const io::Clock& clock,
                             const std::vector<std::pair<uint32_t, Lane*>>& lanes, Duration length) {
  for (const auto& [core, lane] : lanes) MRDMA_CHECK(eal.launch(core, [l = lane] { l->run(); }).ok());
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  std::vector<double> before, rate;
  const Instant began = clock.now();
  for (const auto& [core, lane] : lanes) before.push_back(lane->forwarded());
  std::this_thread::sleep_for(std::chrono::nanoseconds(length.ns));
  const double seconds = static_cast<double>((clock.now() - began).ns) / 1e9;
  for (size_t i = 0; i < lanes.size(); ++i)
    rate.push_back((lanes[i].second->forwarded() - before[i]) / seconds);
  for (const auto& [core, lane] : lanes) lane->stop();
  eal.join();
  return rate;
}

}  // namespace

Result<Forwarding> measure_forwarding(io::Eal& eal, const io::Clock& clock, int rounds, Duration round) {
  auto first = Lane::make(0, clock), second = Lane::make(1, clock);
  if (!first) return Error{first.error()};
  if (!second) return Error{second.error()};
  const std::array<Lane*, 2> lanes{first->get(), second->get()};
  std::array<std::vector<double>, 2> alone, together;
  for (int i = 0; i < rounds; ++i) {
    for (uint32_t w = 0; w < 2; ++w) alone[w].push_back(round_of(eal, clock, {{w, lanes[w]}}, round)[0]);
    const auto both = round_of(eal, clock, {{0, lanes[0]}, {1, lanes[1]}}, round);
    for (uint32_t w = 0; w < 2; ++w) together[w].push_back(both[w]);
  }
  Forwarding f;
  for (uint32_t w = 0; w < 2; ++w) {
    f.alone[w] = *std::max_element(alone[w].begin(), alone[w].end());
    f.together[w] = *std::max_element(together[w].begin(), together[w].end());
  }
  if (auto r = eal.launch(1, [&] { lanes[1]->run(); }); !r) return Error{r.error()};
  lanes[1]->register_pairs();
  std::vector<double> reports, flows;
  for (int i = 0; i < 201; ++i) {
    reports.push_back(lanes[1]->report_ns());
    flows.push_back(lanes[1]->flow_ns());
  }
  const double lost = lanes[1]->lost();
  lanes[1]->stop();
  eal.join();
  if (lost != 0) return Error{"packets were lost between ports in memory: nothing is measured"};
  f.report = median(reports);
  f.flow = median(flows);
  return f;
}

}  // namespace matchrdma::cores_bench
