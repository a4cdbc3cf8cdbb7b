// What the receiver's bookkeeping costs per packet, beside polling and reposting (HOST.md: under 30 cycles).
#include <x86intrin.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "host/model_fabric/model_net.h"
#include "host/model_fabric/model_nic.h"
#include "host/sdr/receiver.h"

namespace {

using namespace matchrdma;
using namespace matchrdma::host;

constexpr uint32_t kPackets = 32768, kPacketBytes = 4096, kBurst = 64;
constexpr int kRounds = 41;

/// Cycles per packet of one message; `k` 0: no code. Polls after each burst, as the endpoint does.
double message(uint32_t k, uint32_t m, bool with_poll) {
  const NicModel nic;
  ModelNet net(1, nic, nic);
  SdrShape shape;
  shape.packet_bytes = kPacketBytes;
  shape.code_k = k;
  shape.code_m = m;
  shape.layout = *ImmediateLayout::of(8, kPackets);
  SdrReceiver receiver(shape, {}, net.nic(0));
  static std::vector<uint8_t> buffer(uint64_t{kPackets} * kPacketBytes);
  Instant now{1'000'000};
  std::vector<Signal> out;
  if (!receiver.receive_post(buffer, now).ok()) return 0;
  receiver.poll(now, out);
  const auto* grants = std::get_if<ReceiverState>(&out.front());
  const GrantedPart part = grants->grants.front().data;
  receiver.on_state({now, Duration::millis(25), 1, {{0, buffer.size(), false, false}}}, now);
  std::vector<uint32_t> immediates;
  for (uint32_t p = 0; p + 1 < kPackets; ++p)  // the last would end the message, which is counted elsewhere
    immediates.push_back(shape.layout.pack({part.slot, p, part.generation}));
  uint64_t cycles = 0;
  for (size_t at = 0; at < immediates.size(); at += kBurst) {
    const size_t end = std::min(immediates.size(), at + kBurst);
    now = now + Duration::micros(5);
    out.clear();
    const uint64_t before = __rdtsc();
    for (size_t i = at; i < end; ++i) receiver.on_packet(immediates[i], now);
    if (with_poll) receiver.poll(now, out);
    cycles += __rdtsc() - before;
    if (!with_poll) receiver.poll(now, out);
  }
  return static_cast<double>(cycles) / static_cast<double>(immediates.size());
}

double median(uint32_t k, uint32_t m, bool with_poll) {
  std::vector<double> v;
  for (int i = 0; i < kRounds; ++i) v.push_back(message(k, m, with_poll));
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

}  // namespace

int main() {
  std::printf("A message of %u packets, bursts of %u, medians of %d rounds, TSC cycles per packet\n\n",
              kPackets, kBurst, kRounds);
  std::printf("%-28s %10s %22s\n", "", "book", "book, judge and say");
  std::printf("%-28s %10.1f %22.1f\n", "selective repeat", median(0, 0, false), median(0, 0, true));
  std::printf("%-28s %10.1f %22.1f\n", "erasure code (32,8)", median(32, 8, false), median(32, 8, true));
  return 0;
}
