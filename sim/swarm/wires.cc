#include "sim/swarm/wires.h"

namespace matchrdma::swarm {

Long make_long(const model::SpanConfig& c, uint64_t seed, model::PacketArena& arena) {
  Long s(c, seed);
  s.set_clone([&arena](const Carried& x) {
    return Carried{x.packet ? model::clone_packet(x.packet, arena) : PacketRef{}, x.message, x.session};
  });
  // A message that is lost is marked by an empty probe answer of time never.
  s.set_corrupt([&arena](Carried& x, Prng& r) {
    if (x.packet) {
      model::corrupt_packet(x.packet, r, arena, model::fragile_from(x.packet->bytes()));
    } else {
      x.message = ProbeAck{Instant::never(), {}, {}};
    }
  });
  return s;
}

bool is_lost(const Message& m) {
  const auto* p = std::get_if<ProbeAck>(&m);
  return p != nullptr && p->t1.is_never();
}

}  // namespace matchrdma::swarm
