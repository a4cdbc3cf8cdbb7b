#include "bench/dataplane/stages.h"

#include <algorithm>
#include <array>
#include <span>

#include "bench/dataplane/site.h"
#include "dataplane/base/prefetch.h"
#include "dataplane/flow/flow_table.h"
#include "dataplane/io/mbuf_pool.h"
#include "dataplane/io/ring/primitives.h"
#include "dataplane/wire/icrc.h"

namespace matchrdma::dataplane_bench {
namespace {

/// Buffers: as many as a proxy has that keeps a round trip of packets, far more than the caches hold.
constexpr uint32_t kBuffers = 65536, kRoom = 4096 + 128;
constexpr size_t kHeaderLines = 2;

/// Duty: one burst through the steps. Counts what was not as it should be.
class Steps {
 public:
  explicit Steps(const FlowTable& table) : table_(table) {}

  void parse(std::span<const PacketRef> burst) {
    for (const PacketRef& p : burst) prefetch_line(p->data);
    for (size_t i = 0; i < burst.size(); ++i) parsed_[i] = parse_frame(burst[i]->bytes());
  }
  void find(size_t n) {
    for (size_t i = 0; i < n; ++i) {
      keys_[i] = FlowKey::of(parsed_[i].frame, 0);
      hashes_[i] = keys_[i].hash();
      table_.prefetch_slot(hashes_[i]);
    }
    for (size_t i = 0; i < n; ++i) table_.prefetch_key(hashes_[i]);
    for (size_t i = 0; i < n; ++i) wrong_ += table_.find(keys_[i], hashes_[i]) == kNoFlow ? 1 : 0;
  }
  void check(std::span<const PacketRef> burst) {
    for (size_t i = 0; i < burst.size(); ++i) {
      if (i + 1 < burst.size()) bring(*burst[i + 1]);
      wrong_ += check_icrc(parsed_[i].frame) ? 0 : 1;
    }
  }
  uint64_t wrong() const { return wrong_; }

 private:
  static void bring(const Packet& p) {
    const size_t lines = (p.size + kCacheLine - 1) / kCacheLine;
    prefetch_lines(p.data + kHeaderLines * kCacheLine, lines - std::min(lines, kHeaderLines));
  }
  const FlowTable& table_;
  std::array<ParseResult, kBurst> parsed_;
  std::array<FlowKey, kBurst> keys_;
  std::array<uint64_t, kBurst> hashes_;
  uint64_t wrong_ = 0;
};

/// Cycles of the three steps over all packets.
std::array<uint64_t, 3> run_once(Steps& s, std::span<const PacketRef> packets) {
  std::array<uint64_t, 3> sum{};
  for (; !packets.empty(); packets = packets.subspan(kBurst)) {
    const auto burst = packets.first(kBurst);
    const uint64_t began = io::tsc();
    s.parse(burst);
    const uint64_t parsed = io::tsc();
    s.find(burst.size());
    const uint64_t found = io::tsc();
    s.check(burst);
    const uint64_t checked = io::tsc();
    sum[0] += parsed - began;
    sum[1] += found - parsed;
    sum[2] += checked - found;
  }
  return sum;
}

}  // namespace

Result<Stages> measure_stages(const TrafficOptions& o, uint32_t phase, int rounds) {
  static int made = 0;
  auto pool = io::MbufPool::create("stages" + std::to_string(made++), kBuffers, kRoom);
  if (!pool) return Error{pool.error()};
  Traffic traffic(o);
  FlowTable table(2 * o.flows);
  for (uint32_t i = 0; i < o.flows; ++i) {
    const Registration r = traffic.registration(i, Completion::kEarly);
    for (const bool from_a : {true, false}) table.insert(r.flow(from_a));
  }
  Steps steps(table);
  Stages all;
  std::vector<PacketRef> packets;
  // Every buffer has been used once before it counts.
  const int warm = static_cast<int>(kBuffers / phase);
  for (int round = 0; round < warm + rounds; ++round) {
    packets.clear();
    for (uint32_t i = 0; i < phase; ++i) {
      packets.push_back(traffic.next_request(**pool));
      if (!packets.back()) return Error{"the pool of the stages is empty"};
    }
    const auto cycles = run_once(steps, packets);
    if (round < warm) continue;
    for (size_t i = 0; i < cycles.size(); ++i)
      std::array{&all.parse, &all.lookup, &all.icrc}[i]->push_back(static_cast<double>(cycles[i]) / phase);
  }
  if (steps.wrong() != 0)
    return Error{std::to_string(steps.wrong()) +
                 " packets had no flow or a wrong ICRC: the figures would mean "
                 "nothing"};
  return all;
}

}  // namespace matchrdma::dataplane_bench
