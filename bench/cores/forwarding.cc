#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "bench/cores/cores.h"
#include "proxy/daemon/dpdk_io.h"
#include "proxy/daemon/report.h"
#include "proxy/daemon/worker.h"

namespace matchrdma::cores_bench {
namespace {

using daemon::DpdkIo;
using daemon::PortPair;
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
    auto lan = plan("net_ring" + std::to_string(2 * number), Side::kLan);
    auto wan = plan("net_ring" + std::to_string(2 * number + 1), Side::kWan);
    if (!lan) return Error{lan.error()};
    if (!wan) return Error{wan.error()};
    auto pool = io::MbufPool::create("lane" + n, 8192, std::max(lan->packet_room, wan->packet_room));
    if (!pool) return Error{pool.error()};
    pool_ = std::move(*pool);
    io::MbufPool* const pools[] = {pool_.get()};
    auto lan_port = io::Port::open(*lan, pools), wan_port = io::Port::open(*wan, pools);
    if (!lan_port) return Error{lan_port.error()};
    if (!wan_port) return Error{wan_port.error()};
    ports_.push_back({std::move(*lan_port), std::move(*wan_port)});
    io_ = std::make_unique<DpdkIo>(uint16_t{0}, clock_, ports_, nullptr);
    worker_ = std::make_unique<Worker>(uint16_t{0}, *io_, kBurst);
    daemon::SpanEndConfig c;
    c.shard.limits.max_flows = 1024;
    worker_->add(std::make_unique<daemon::SpanEnd>(c, *pool_, daemon::SpanEndHooks{}));
    return fill();
  }
  static Result<io::PortPlan> plan(const std::string& device, Side side) {
    io::PortOptions o;
    o.device = device;
    o.mtu = kMtu;
    o.tag = daemon::port_tag(0, side);
    return io::plan_port(o);
  }
  Result<void> fill() {
    for (uint32_t i = 0; i < kCirculating; ++i) {
      std::array<PacketRef, 1> one{
          write_packet(1, static_cast<uint8_t>(1 + i % 8), 2 + i % kFlows, kPayload, *pool_)};
      if (ports_[0].lan->tx_burst(0, io::Lane::kBulk, one) != 1)
        return Error{"a port in memory takes no packets"};
    }
    return {};
  }

  const io::Clock& clock_;
  std::unique_ptr<io::MbufPool> pool_;
  std::vector<PortPair> ports_;
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
