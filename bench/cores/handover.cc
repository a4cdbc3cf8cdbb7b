#include <atomic>
#include <cstring>

#include "bench/cores/cores.h"
#include "dataplane/io/dispatch.h"
#include "dataplane/io/mbuf_pool.h"

namespace matchrdma::cores_bench {
namespace {

constexpr uint32_t kRing = 4096, kPool = 16384;
constexpr uint64_t kAhead = kRing / 2;  ///< so that no ring is ever full

struct Run {
  io::Dispatch& dispatch;
  io::MbufPool& pool;
  const io::Clock& clock;
  std::vector<uint8_t> frame;
  uint64_t packets;
  std::atomic<uint64_t> taken{0};
  int64_t sort_ns = 0, take_ns = 0;
  uint64_t sum = 0;  ///< of what was read, so that it is read

  void send() {
    std::array<PacketRef, kBurst> burst;
    for (uint64_t sent = 0; sent < packets; sent += kBurst) {
      for (PacketRef& p : burst) {
        p = pool.alloc(static_cast<uint32_t>(frame.size()));
        std::memcpy(p->data, frame.data(), frame.size());
      }
      const Instant before = clock.now();
      const uint32_t kept = dispatch.sort(0, burst);
      sort_ns += (clock.now() - before).ns;
      for (uint32_t i = 0; i < kept; ++i) burst[i].reset();
      if (kept != 0) continue;
      while (sent + kBurst - taken.load(std::memory_order_acquire) > kAhead) {
      }
    }
  }
  void receive() {
    std::array<PacketRef, kBurst> burst;
    for (uint64_t n = 0; n < packets;) {
      const Instant before = clock.now();
      const uint32_t got = dispatch.take(1, burst);
      if (got == 0) continue;
      for (uint32_t i = 0; i < got; ++i) {
        sum += burst[i]->data[33];
        burst[i].reset();
      }
      take_ns += (clock.now() - before).ns;
      n += got;
      taken.store(n, std::memory_order_release);
    }
  }
};

}  // namespace

Result<Handover> measure_handover(io::Eal& eal, const io::Clock& clock, int rounds, uint64_t packets) {
  packets -= packets % kBurst;
  auto dispatch = io::Dispatch::create(2, kRing);
  if (!dispatch) return Error{dispatch.error()};
  auto pool = io::MbufPool::create("handover", kPool, 2048);
  if (!pool) return Error{pool.error()};
  std::vector<double> kept, given, taken;
  for (int i = 0; i < 2 * rounds; ++i) {
    const uint16_t owner = i % 2 == 0 ? 0 : 1;
    Run run{**dispatch, **pool, clock, {}, packets};
    for (uint8_t host = 1; run.frame.empty() || io::Dispatch::owner(run.frame, 2) != owner; ++host) {
      const PacketRef p = write_packet(1, host, 2, 64, **pool);
      run.frame.assign(p->bytes().begin(), p->bytes().end());
    }
    if (auto r = eal.launch(0, [&run] { run.send(); }); !r) return Error{r.error()};
    if (owner == 1) {
      if (auto r = eal.launch(1, [&run] { run.receive(); }); !r) return Error{r.error()};
    }
    eal.join();
    const auto count = static_cast<double>(packets);
    (owner == 0 ? kept : given).push_back(static_cast<double>(run.sort_ns) / count);
    if (owner == 1) taken.push_back(static_cast<double>(run.take_ns) / count);
  }
  if ((*dispatch)->dropped(0) != 0)
    return Error{"packets were dropped between the workers: nothing is measured"};
  return Handover{median(kept), median(given), median(taken)};
}

}  // namespace matchrdma::cores_bench
