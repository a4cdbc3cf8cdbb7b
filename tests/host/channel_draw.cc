#include "tests/host/channel_draw.h"

#include <algorithm>

namespace matchrdma::host::test {
namespace {

double drawn(Prng& p, double most) {
  if (p.chance(0.4)) return 0;
  const double u = p.unit();
  return most * u * u * u;
}

PathModel drawn_path(Prng& p) {
  PathModel m;
  m.gigabits = p.chance(0.5) ? 100 : 1 + 10 * p.unit();
  m.delay = Duration{p.between(1'000, p.chance(0.6) ? 100'000 : 5'000'000)};
  m.loss = drawn(p, 0.05);
  m.reorder = drawn(p, 0.1);
  m.reorder_by = Duration{p.between(1'000, 100'000)};
  m.duplicate = drawn(p, 0.2);
  m.stale_by = Duration{p.between(1'000, 200'000'000)};
  m.stall = drawn(p, 0.005);
  m.stall_for = Duration{p.between(10'000, 20'000'000)};
  return m;
}

void draw_mishaps(Prng& p, ChannelRigSettings& s) {
  // Most schedules are over after a few round trips; some last.
  const int64_t trip = (s.path[0].delay + s.path[1].delay).ns + 2 * s.control_delay.ns + s.most_pause.ns;
  const int64_t most = p.chance(0.8) ? 10 * trip : 200'000'000;
  const auto when = [&p, most] { return Duration{p.between(0, most)}; };
  using What = ChannelMishap::What;
  const auto end = [&p] { return static_cast<uint32_t>(p.below(2)); };
  if (p.chance(0.6))
    for (int64_t n = p.between(1, 5); n > 0; --n) s.mishaps.push_back({when(), What::kQpError, end()});
  if (p.chance(0.2))
    for (int64_t n = p.between(1, 2); n > 0; --n) s.mishaps.push_back({when(), What::kRestart, end()});
  if (p.chance(0.3)) {
    const Duration dies = when();
    s.mishaps.push_back({dies, What::kPathDies, 0});
    s.mishaps.push_back({dies + Duration{p.between(1'000'000, p.chance(0.5) ? 100'000'000 : 4'000'000'000)},
                         What::kPathReturns, 0});
  }
  if (p.chance(0.3)) {
    const Duration down = when();
    s.mishaps.push_back({down, What::kPipeDown, 0});
    s.mishaps.push_back({down + Duration{p.between(100'000, 500'000'000)}, What::kPipeUp, 0});
  }
  if (p.chance(0.3)) s.mishaps.push_back({when(), What::kControlLost, 0});
}

/// Many short messages to a host that looks rarely and sees little when it does.
void draw_crowd(Prng& p, ChannelRigSettings& s) {
  s.load.connections = s.channel.connections = 5;
  s.load.messages = 30;
  s.load.least_bytes = 0;
  s.load.most_bytes = 100;
  s.load.outstanding = 6;
  s.channel.messages_ahead = 8;
  s.channel.receives = 64;
  s.channel.send_window = 100'000;
  s.control_delay = Duration{p.between(10'000, 50'000)};
  s.most_pause = Duration{p.between(500'000, 3'000'000)};
  s.completions_at_once = static_cast<size_t>(p.between(1, 3));
}

}  // namespace

ChannelRigSettings draw_channel(uint64_t seed) {
  Prng p(seed);
  ChannelRigSettings s;
  s.seed = seed;
  for (PathModel& m : s.path) m = drawn_path(p);
  for (bool& c : s.custody) c = p.chance(0.4);
  s.proxies_obey = p.chance(0.7);
  s.nic.torn = p.chance(0.5) ? p.unit() : 0;
  s.nic.torn_for = Duration{p.between(1'000, 1'000'000)};
  s.pipe = p.chance(0.7);
  s.control_delay = Duration{p.between(10'000, 6'000'000)};
  s.control_outage = Duration{p.between(100'000, 200'000'000)};
  s.completions_at_once = p.chance(0.5) ? 255 : static_cast<size_t>(p.between(1, p.chance(0.6) ? 2 : 20));
  s.most_pause = p.chance(0.5) ? Duration{} : Duration{p.between(1'000, 2'000'000)};
  s.clock_offset = Duration{p.between(-1'000'000'000'000, 1'000'000'000'000)};

  ChannelOptions& o = s.channel;
  ChannelLoad& l = s.load;
  l.connections = static_cast<uint32_t>(p.between(1, 5));
  l.messages = static_cast<uint32_t>(p.between(1, 12));
  l.most_bytes = static_cast<uint64_t>(p.between(1, p.chance(0.2) ? 100'000 : 20'000));
  l.least_bytes = p.chance(0.7) ? 0 : l.most_bytes;
  l.buffers = p.chance(0.5) ? static_cast<uint32_t>(p.between(1, 3)) : 0;
  l.wait_for_buffers = p.chance(0.5);
  l.outstanding = static_cast<uint32_t>(p.between(1, 6));
  l.puts = p.chance(0.4) ? static_cast<uint32_t>(p.between(1, 10)) : 0;
  l.put_slots = static_cast<uint32_t>(p.between(1, 4));
  l.put_bytes = static_cast<uint32_t>(p.between(1, 5000));
  l.atomics = p.chance(0.4) ? static_cast<uint32_t>(p.between(1, 10)) : 0;
  l.lazy = p.chance(0.3) ? p.unit() * 0.9 : 0;

  o.connections = l.connections;
  o.windows = 1;
  o.fragment_bytes = 512u << p.below(6);
  o.small_bytes = p.chance(0.3) ? 64 : 2048;
  o.messages_ahead = static_cast<uint32_t>(p.between(1, 8));
  o.requests_ahead = static_cast<uint32_t>(p.between(1, 4));
  o.receives = static_cast<uint32_t>(p.between(4, p.chance(0.5) ? 8 : 64));
  o.send_queue = static_cast<uint32_t>(p.between(32, 128));
  o.send_slots = static_cast<uint32_t>(p.between(32, 64));
  o.send_window = static_cast<uint64_t>(p.between(1, p.chance(0.5) ? 5'000 : 200'000));
  o.connection.timeout_exponent = 14;
  o.path_patience = Duration{p.between(700'000'000, 2'000'000'000)};
  o.offer_patience = Duration{p.between(700'000'000, 1'000'000'000)};
  o.retry_after = Duration{p.between(100'000, 50'000'000)};
  o.fallback_after = p.chance(0.3) ? Duration{} : Duration{p.between(0, 300'000'000)};
  if (p.chance(0.15)) draw_crowd(p, s);
  draw_mishaps(p, s);
  return s;
}

}  // namespace matchrdma::host::test
