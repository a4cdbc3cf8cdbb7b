#pragma once
// Traces made in memory: for tests.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "dataplane/wire/icrc.h"
#include "pcap/make/make_trace.h"
#include "pcap/trace_info.h"

namespace matchrdma::test {

/// Everything that was captured.
class MemorySink final : public PacketSink {
 public:
  struct Packet {
    Instant time;
    std::vector<uint8_t> bytes;
    Frame frame() const { return parse_frame(bytes).frame; }
    /// Site of the sender: MAC addresses end in 1 at site A, in 2 at site B.
    int side() const { return bytes[11] - 1; }
  };
  Result<void> packet(Instant time, Bytes frame) override {
    packets.push_back({time, {frame.begin(), frame.end()}});
    return {};
  }
  std::vector<Packet> packets;
};

struct Made {
  TraceTruth truth;
  std::vector<MemorySink::Packet> packets;

  /// The counts of `matchrdma trace info`.
  TraceInfo info() const {
    TraceInfo t;
    uint64_t index = 0;
    for (const auto& p : packets) t.add({p.time, p.bytes, static_cast<uint32_t>(p.bytes.size()), index++});
    return t;
  }
};

inline Made make(const TraceRecipe& r) {
  MemorySink sink;
  auto truth = make_trace(r, sink);
  if (!truth) {
    ADD_FAILURE() << truth.error();
    return {};
  }
  return {std::move(*truth), std::move(sink.packets)};
}

/// Some hundred packets.
inline TraceRecipe small(uint64_t seed = 1) {
  TraceRecipe r;
  r.qps = 4;
  r.message = 4096;
  r.iterations = 2;
  r.compute = Duration::micros(200);
  r.duration = {};
  r.seed = seed;
  return r;
}

inline uint64_t count(const Made& m, uint8_t opcode) { return m.info().opcodes[opcode]; }

}  // namespace matchrdma::test
