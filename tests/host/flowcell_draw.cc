#include "tests/host/flowcell_draw.h"

#include <algorithm>

#include "tests/host/path_draw.h"

namespace matchrdma::host::test {
namespace {

// Go-back-N with much loss goes nowhere; a path that is lost altogether is an event.
constexpr double kMostLoss = 0.03;

/// Paths break and come back, queue pairs fail. At the end every path works.
std::vector<PathEvent> drawn_events(Prng& p, uint32_t paths, Duration span) {
  std::vector<PathEvent> all;
  const auto n = p.chance(0.3) ? 0 : p.between(1, 6);
  for (int64_t i = 0; i < n; ++i) {
    PathEvent e;
    e.at = Duration{p.between(0, span.ns)};
    e.path = static_cast<uint32_t>(p.below(paths));
    e.end = static_cast<uint32_t>(p.below(2));
    e.kind = p.chance(0.5) ? PathEvent::Kind::kQpError : PathEvent::Kind::kBreak;
    all.push_back(e);
    if (e.kind != PathEvent::Kind::kBreak) continue;
    e.at = e.at + Duration{p.between(0, p.chance(0.5) ? 3'000'000'000 : 30'000'000)};
    e.kind = PathEvent::Kind::kMend;
    all.push_back(e);
  }
  return all;
}

/// All paths break at the same time, and again before they are all back.
void break_all(Prng& p, FlowcellRigSettings& s) {
  const auto span = Duration{s.flowcell.round_trip.ns * 10 + 20'000'000};
  for (int64_t times = p.between(1, 3); times > 0; --times) {
    const Duration at{p.between(0, span.ns)};
    for (uint32_t path = 0; path < s.flowcell.shape.paths; ++path) {
      s.events.push_back({at, PathEvent::Kind::kBreak, path, 0});
      s.events.push_back({at + Duration{p.between(0, p.chance(0.3) ? 3'000'000'000 : 50'000'000)},
                          PathEvent::Kind::kMend, path, 0});
    }
  }
}

/// Queue pairs fail one after the other, so that copies of copies are under way.
void fail_many(Prng& p, FlowcellRigSettings& s) {
  const auto span = Duration{s.flowcell.round_trip.ns * 10 + 20'000'000};
  for (int64_t n = p.between(5, 40); n > 0; --n)
    s.events.push_back({Duration{p.between(0, span.ns)}, PathEvent::Kind::kQpError,
                        static_cast<uint32_t>(p.below(s.flowcell.shape.paths)),
                        static_cast<uint32_t>(p.below(2))});
}

/// Corners of the options, each by itself and together.
void harsher(Prng& p, FlowcellRigSettings& s) {
  FlowcellOptions& o = s.flowcell;
  if (p.chance(0.15)) o.send_queue = CellQueue::kLeastSendQueue;
  if (p.chance(0.15)) {  // a number of ring places that the numbers of tokens do not come out even with
    o.receive_queue = static_cast<uint32_t>(p.between(1, 9));
    o.shape.ring = 2 * o.receive_queue + static_cast<uint32_t>(p.below(3));
  }
  if (p.chance(0.15)) {  // slow words, short paths
    s.control_delay = Duration{p.between(20'000'000, 400'000'000)};
    for (uint32_t i = 0; i < o.shape.paths; ++i) s.there[i].delay = s.back[i].delay = Duration::micros(5);
  }
  if (p.chance(0.1)) s.messages_back = s.traffic.messages;
  if (p.chance(0.1)) {  // many short messages through two slots: numbers of slots come round
    o.shape.slots = 2;
    s.traffic.messages = static_cast<uint32_t>(p.between(20, 80));
    s.traffic.most_bytes = std::min(s.traffic.most_bytes, 3 * o.least_cell);
    s.traffic.least_bytes = 1;
    o.shape.layout = {1, 27, 4};
  }
  if (p.chance(0.1)) o.rate = {p.between(1, 1'000'000'000)};
  if (p.chance(0.1)) s.most_pause = Duration{p.between(1'000'000, 30'000'000)};
  if (p.chance(0.1)) break_all(p, s);
  if (p.chance(0.1)) fail_many(p, s);
}

}  // namespace

FlowcellRigSettings draw_flowcell(uint64_t seed) {
  Prng p(seed);
  FlowcellRigSettings s;
  s.seed = seed;
  FlowcellOptions& o = s.flowcell;
  o.shape.paths = static_cast<uint32_t>(p.between(1, 4));
  const bool early = p.chance(0.4);
  for (uint32_t i = 0; i < o.shape.paths; ++i) {
    s.there.push_back(drawn_path(p, kMostLoss));
    s.back.push_back(drawn_path(p, kMostLoss));
    s.custody.push_back(early && p.chance(0.8));
  }
  s.proxies_hear_of_fences = p.chance(0.7);
  s.nic.torn = p.chance(0.5) ? 0 : p.unit();
  s.nic.torn_for = Duration{p.between(1'000, 200'000)};
  o.shape.path_mtu = 256u << p.below(3);
  o.shape.slots = 1u << p.below(4);
  o.receive_queue = 4u << p.below(6);
  o.send_queue = 64u << p.below(4);
  o.shape.ring = 2 * o.receive_queue;
  o.least_cell = o.shape.path_mtu * (1u << p.below(5));
  o.most_cell = o.least_cell * (1u << p.below(6));
  s.traffic.most_bytes = o.least_cell * static_cast<uint64_t>(p.between(1, p.chance(0.1) ? 400 : 60));
  s.traffic.least_bytes = p.chance(0.5) ? 1 : s.traffic.most_bytes;
  s.traffic.messages = static_cast<uint32_t>(p.between(1, 10));
  s.traffic.buffers = static_cast<uint32_t>(p.between(1, 4));
  if (p.chance(0.3)) s.messages_back = static_cast<uint32_t>(p.between(1, 5));
  o.shape.layout = *ImmediateLayout::of(o.shape.slots, s.traffic.most_bytes / o.least_cell + 3);
  o.rate = {p.between(1'000'000'000, 100'000'000'000)};
  o.round_trip = Duration{p.between(10'000, 20'000'000)};
  o.soft_floor = early ? Duration::millis(100) : Duration::millis(2);
  o.timeout_exponent = 14;
  s.control_delay = Duration{p.between(1'000, 20'000'000)};
  s.most_pause = p.chance(0.5) ? Duration{} : Duration{p.between(1'000, 2'000'000)};
  s.clock_offset = Duration{p.between(-1'000'000'000'000, 1'000'000'000'000)};
  s.restarts = p.chance(0.2) ? static_cast<uint32_t>(p.between(1, 3)) : 0;
  s.events = drawn_events(p, o.shape.paths, Duration{o.round_trip.ns * 10 + 20'000'000});
  if (p.chance(0.5)) harsher(p, s);
  return s;
}

}  // namespace matchrdma::host::test
