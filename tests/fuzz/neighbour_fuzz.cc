// Any bytes as a frame of the WAN, for an IPv4 and an IPv6 address, tagged and not: nothing is read outside, no
// group address is learned or written to, and a reply is a message that the same reader finds sound.
#include "controlplane/channel/neighbour.h"

namespace {

using namespace matchrdma;

NeighbourConfig config_of(bool v4, bool vlan) {
  NeighbourConfig c;
  c.self.mac = {2, 0, 0, 0, 0, 0xb};
  if (vlan) c.self.vlan = 300;
  c.self.address.b = {0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
  if (v4) c.self.address.b = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 2};
  c.peer = c.self.address;
  c.peer.b[15] = 1;
  c.prefix_bits = v4 ? 30 : 64;
  return c;
}

void check(const NeighbourConfig& config, Bytes bytes) {
  Neighbour n(config);
  NeighbourFrame reply;
  const Neighbour::Verdict verdict = n.take(bytes, Instant{}, reply);
  MRDMA_CHECK(verdict == Neighbour::Verdict::kConsumed || (reply.size == 0 && n.counters().answered == 0));
  MRDMA_CHECK(!n.path() || (n.path()->net.mac_dst[0] & 1) == 0);
  if (reply.size == 0) return;
  const auto message = parse_neighbour(config.self, reply.bytes());
  MRDMA_CHECK(message && message->sound && message->kind == NeighbourMessage::Kind::kTell);
  MRDMA_CHECK(message->about == config.self.address && message->mac == config.self.mac);
  MRDMA_CHECK((reply.b[0] & 1) == 0 || message->to_all);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (const bool v4 : {true, false})
    for (const bool vlan : {true, false}) check(config_of(v4, vlan), {data, size});
  return 0;
}
