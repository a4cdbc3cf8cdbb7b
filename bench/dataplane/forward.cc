#include "bench/dataplane/forward.h"

#include <algorithm>
#include <memory>

#include "bench/span_ports.h"
#include "proxy/daemon/worker.h"

namespace matchrdma::dataplane_bench {
namespace {

using daemon::DpdkIo;
using Worker = daemon::Worker<DpdkIo>;

constexpr uint32_t kPackets = 8192, kBurst = 32, kLeastMtu = 1500;

/// One worker between two net_null ports.
class NullSpan {
 public:
  static Result<std::unique_ptr<NullSpan>> make(uint32_t frame, const io::Clock& clock) {
    std::unique_ptr<NullSpan> made(new NullSpan(clock));
    io::PortOptions o;
    o.mtu = std::max(frame, kLeastMtu);
    const std::string how = ",copy=1,size=" + std::to_string(frame), name = "net_null" + std::to_string(frame);
    auto opened =
        open_span_ports("null" + std::to_string(frame), kPackets, name + "0" + how, name + "1" + how, o);
    if (!opened) return Error{opened.error()};
    made->at_ = std::move(*opened);
    made->io_ = std::make_unique<DpdkIo>(uint16_t{0}, clock, made->at_.ports, nullptr);
    made->worker_ = std::make_unique<Worker>(uint16_t{0}, *made->io_, kBurst);
    daemon::SpanEndConfig c;
    c.shard.limits.max_flows = 1024;
    made->worker_->add(std::make_unique<daemon::SpanEnd>(c, *made->at_.pool, daemon::SpanEndHooks{}));
    return made;
  }
  /// Packets/s that left, both ways together.
  double rate(Duration length) {
    constexpr int kRoundsAtATime = 64;
    const uint64_t before = worker_->counters().tx_packets;
    const Instant began = clock_.now();
    Instant now = began;
    for (; now < began + length; now = clock_.now()) {
      for (int i = 0; i < kRoundsAtATime; ++i) worker_->round();
    }
    return static_cast<double>(worker_->counters().tx_packets - before) * 1e9 /
           static_cast<double>((now - began).ns);
  }

 private:
  explicit NullSpan(const io::Clock& clock) : clock_(clock) {}

  const io::Clock& clock_;
  SpanPorts at_;
  std::unique_ptr<DpdkIo> io_;
  std::unique_ptr<Worker> worker_;
};

}  // namespace

Result<Forwarded> measure_forwarding(io::Eal& eal, const io::Clock& clock, uint32_t frame,
                                     const ForwardOptions& o) {
  auto span = NullSpan::make(frame, clock);
  if (!span) return Error{span.error()};
  Forwarded f;
  f.frame = frame;
  TestpmdRun t;
  t.frame = frame;
  t.cpu = o.cpu;
  t.main_cpu = o.main_cpu;
  t.seconds = o.seconds;
  for (int i = 0; i < o.rounds; ++i) {
    if (auto r = eal.launch(0, [&] { f.worker.push_back((*span)->rate(Duration::seconds(o.seconds))); }); !r)
      return Error{r.error()};
    eal.join();
    for (const auto& [mode, out] : {std::pair{"io", &f.io}, std::pair{"csum", &f.csum}}) {
      t.mode = mode;
      auto rate = testpmd_rate(t);
      if (!rate) return Error{rate.error()};
      out->push_back(*rate);
    }
  }
  return f;
}

}  // namespace matchrdma::dataplane_bench
