#include "tests/host/sdr_draw.h"

#include <algorithm>

#include "tests/host/path_draw.h"

namespace matchrdma::host::test {
namespace {

constexpr uint64_t kPadding = 16;  // packets of 64 bytes that the transform may fill its last block with

}  // namespace

RigSettings draw_sdr(uint64_t seed) {
  Prng p(seed);
  RigSettings s;
  s.seed = seed;
  s.there = drawn_path(p, 0.2);
  s.back = drawn_path(p, 0.2);
  SdrOptions& o = s.sdr;
  o.connection.path_mtu = 1024;
  o.shape.packet_bytes = p.chance(0.1) ? 2048 : 64u << p.below(3);  // of more than one packet of the wire, too
  o.shape.chunk_packets = 1u << p.below(5);
  o.shape.datagram_bytes = static_cast<uint32_t>(p.between(kSignalHeader + kGrantBytes, 1024));
  o.receiver.slots = 1u << p.below(4);
  if (p.chance(0.4)) {
    o.shape.code_k = static_cast<uint32_t>(p.between(1, 12));
    o.shape.code_m = static_cast<uint32_t>(p.between(1, 4));
    o.receiver.slots *= 2;
  }
  s.traffic.most_bytes = o.shape.packet_bytes * static_cast<uint64_t>(p.between(1, p.chance(0.1) ? 3000 : 200));
  s.traffic.least_bytes = p.chance(0.5) ? 1 : s.traffic.most_bytes;
  const uint64_t parity =
      o.shape.coded() ? parity_bytes(o.shape, s.traffic.most_bytes) / o.shape.packet_bytes : 0;
  o.shape.layout = *ImmediateLayout::of(o.receiver.slots, std::max<uint64_t>(3000 + kPadding, parity));
  // The fewest generations that are allowed, so that they come round.
  if (p.chance(0.5)) {
    o.shape.layout.index_bits = static_cast<uint8_t>(32 - 4 - o.shape.layout.slot_bits);
    o.shape.layout.generation_bits = 4;
  }
  o.receiver.copy = p.chance(0.3);
  if (p.chance(0.1) && !o.shape.coded()) o.transport = Transport::kRc;
  // Go-back-N waits for its timer when the end of a full send queue is lost: half a second each would be the
  // whole run.
  o.connection.timeout_exponent = 14;
  s.patience = Duration::seconds(600);
  if (p.chance(0.1)) o.receiver.give_up = Duration{p.between(1'000, 20'000'000)};
  o.receiver.slot_bytes = s.traffic.most_bytes;
  if (!o.shape.coded() && o.transport == Transport::kUc && p.chance(0.2)) {
    o.shape.hadamard = static_cast<ElementType>(p.below(3));
    o.receiver.seed = p.next();
    o.receiver.give_up = Duration{p.between(1'000, 20'000'000)};
  }
  o.receiver.generation_rest = Duration::millis(1);
  o.sender.rate = {p.between(100'000'000, 100'000'000'000)};
  o.sender.send_queue = 1u << p.between(3, 9);
  o.receive_queue = 64u << p.below(4);
  s.traffic.messages = static_cast<uint32_t>(p.between(1, 12));
  s.traffic.buffers = static_cast<uint32_t>(p.between(1, 4));
  s.most_pause = p.chance(0.5) ? Duration{} : Duration{p.between(1'000, 2'000'000)};
  s.clock_offset = Duration{p.between(-1'000'000'000'000, 1'000'000'000'000)};
  s.restarts = p.chance(0.2) ? static_cast<uint32_t>(p.between(1, 3)) : 0;
  return s;
}

}  // namespace matchrdma::host::test
