#pragma once
// For tests: two model hosts joined by two spans, nothing between them.
#include <cstdio>
#include <string>
#include <vector>

#include "model/host.h"
#include "model/packet_arena.h"
#include "model/span.h"

namespace matchrdma::model {

class TestNet {
 public:
  TestNet(const HostConfig& host, const SpanConfig& there, const SpanConfig& back, uint64_t seed,
          const ArenaConfig& memory = {})
      : arena(memory),
        a(host, arena),
        b(host, arena),
        ab(make_packet_span(there, seed * 2, arena)),
        ba(make_packet_span(back, seed * 2 + 1, arena)) {}

  /// Runs until both hosts are idle and the wires are empty. False when `limit` passes first.
  bool run(Duration limit) {
    const Instant end = now + limit;
    while (true) {
      step();
      if (a.idle() && b.idle() && ab.empty() && ba.empty()) return true;
      const Instant next =
          earlier(earlier(a.next_deadline(), b.next_deadline()), earlier(ab.next_due(), ba.next_due()));
      if (next > end) return false;
      MRDMA_CHECK(next > now || ++same_time_ < 1'000'000);
      if (next > now) same_time_ = 0;
      now = later(now, next);
    }
  }
  /// Runs for exactly `d`.
  void run_for(Duration d) {
    const Instant end = now + d;
    while (true) {
      step();
      const Instant next =
          earlier(earlier(a.next_deadline(), b.next_deadline()), earlier(ab.next_due(), ba.next_due()));
      if (next > end) break;
      now = later(now, next);
    }
    now = end;
  }

  /// The last packets that were sent, one a line.
  std::string history() const {
    std::string out;
    for (size_t i = trace_.size() > 80 ? trace_.size() - 80 : 0; i < trace_.size(); ++i) {
      const Line& l = trace_[i];
      char text[128];
      std::snprintf(text, sizeof text, "%12.3f us %s %-22s psn %u%s aeth %02x msn %u\n",
                    static_cast<double>(l.at.ns) / 1000, l.from_a ? "a->b" : "b->a", opcode_name(l.opcode),
                    l.psn, l.ack_req ? " A" : "", l.syndrome, l.msn);
      out += text;
    }
    return out;
  }

  PacketArena arena;
  Host a, b;
  PacketSpan ab, ba;
  Instant now{};

 private:
  struct Line {
    Instant at;
    uint32_t psn, msn;
    uint8_t opcode, syndrome;
    bool from_a, ack_req;
  };

  void step() {
    while (auto p = ab.pop_due(now))
      if (*p) b.on_packet((*p)->bytes(), now);
    while (auto p = ba.pop_due(now))
      if (*p) a.on_packet((*p)->bytes(), now);
    while (PacketRef p = a.poll(now)) send(ab, std::move(p), true);
    while (PacketRef p = b.poll(now)) send(ba, std::move(p), false);
  }
  void send(PacketSpan& span, PacketRef p, bool from_a) {
    const Frame f = parse_frame(p->bytes()).frame;
    const bool aeth = f.info().aeth;
    trace_.push_back({now, f.psn().v, aeth ? f.aeth_msn().v : 0, f.opcode(),
                      aeth ? f.aeth_syndrome() : uint8_t{0}, from_a, f.ack_req()});
    const uint32_t size = p->size;
    span.push(std::move(p), size, now);
  }

  std::vector<Line> trace_;
  int same_time_ = 0;
};

/// Addresses 10.0.0.1 -> 10.0.0.2.
inline L2L3 test_path() {
  L2L3 l;
  const uint8_t a[4] = {10, 0, 0, 1}, b[4] = {10, 0, 0, 2};
  l.src = IpAddress::v4(a);
  l.dst = IpAddress::v4(b);
  l.mac_src = {2, 0, 0, 0, 0, 1};
  l.mac_dst = {2, 0, 0, 0, 0, 2};
  l.traffic_class = 26 << 2 | 2;
  l.udp_source_port = 0xc123;
  return l;
}

}  // namespace matchrdma::model
