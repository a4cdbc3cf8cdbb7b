// None of a stranger's packets proves anything.
#include "sim/swarm/stranger.h"

#include <gtest/gtest.h>

#include "dataplane/wire/frame_builder.h"
#include "dataplane/wire/icrc.h"
#include "model/packet_arena.h"

namespace matchrdma::swarm {
namespace {

PacketRef sound_write(PacketPool& pool) {
  static constexpr uint8_t kPayload[64] = {};
  L2L3 l;
  const uint8_t a[4] = {10, 0, 0, 1}, b[4] = {10, 0, 0, 2};
  l.src = IpAddress::v4(a);
  l.dst = IpAddress::v4(b);
  RoceSpec r;
  r.opcode = op::kRcWriteOnly;
  r.dest_qp = Qpn{0x11};
  r.psn = Psn{100};
  r.payload = kPayload;
  r.dma_length = 64;
  return build_roce(l, r, pool);
}

TEST(Stranger, NothingItSendsIsSound) {
  model::PacketArena arena;
  Stranger s(1, arena);
  const PacketRef sound = sound_write(arena);
  int roce = 0, other = 0;
  for (int i = 0; i < 20'000; ++i) {
    s.overhear(sound->bytes());
    const PacketRef p = s.packet();
    ASSERT_TRUE(p);
    const ParseResult r = parse_frame(p->bytes());
    if (r.kind != ParseKind::kRoce) {
      ++other;
      continue;
    }
    ++roce;
    ASSERT_FALSE(icrc_ok(r.frame)) << "packet " << i;
  }
  EXPECT_GT(roce, 1000);
  EXPECT_GT(other, 1000);
}

TEST(Stranger, SameSeedSamePackets) {
  model::PacketArena arena;
  Stranger one(5, arena), two(5, arena);
  for (int i = 0; i < 100; ++i) {
    const PacketRef a = one.packet(), b = two.packet();
    ASSERT_EQ(a->size, b->size);
    EXPECT_TRUE(std::equal(a->data, a->data + a->size, b->data));
  }
}

TEST(Stranger, AckOutOfRangeIsSoundAndFarAbove) {
  model::PacketArena arena;
  Prng prng(3);
  FlowKey flow;
  const uint8_t a[4] = {10, 0, 0, 1}, b[4] = {10, 0, 0, 2};
  flow.src = IpAddress::v4(a);
  flow.dst = IpAddress::v4(b);
  flow.dst_qpn = Qpn{0x22};
  const PacketRef p = ack_out_of_range(flow, Qpn{0x11}, 5000, prng, arena);
  const ParseResult r = parse_frame(p->bytes());
  ASSERT_EQ(r.kind, ParseKind::kRoce);
  EXPECT_TRUE(icrc_ok(r.frame));
  EXPECT_EQ(r.frame.opcode(), op::kRcAck);
  EXPECT_EQ(r.frame.dest_qp(), Qpn{0x11});
  EXPECT_TRUE(r.frame.destination() == flow.src);
  EXPECT_GE(r.frame.psn().v, 6000u);
}

}  // namespace
}  // namespace matchrdma::swarm
