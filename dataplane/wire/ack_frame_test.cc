#include "dataplane/wire/ack_frame.h"

#include <gtest/gtest.h>

#include "dataplane/base/prng.h"
#include "dataplane/wire/frame_builder.h"
#include "dataplane/wire/test_frames.h"

namespace matchrdma {
namespace {

using Buffer = std::vector<uint8_t>;

RoceSpec ack(Qpn to, uint16_t pkey, bool mig_req) {
  RoceSpec r;
  r.opcode = op::kRcAck;
  r.dest_qp = to;
  r.pkey = pkey;
  r.mig_req = mig_req;
  return r;
}

// Whatever the numbers: byte for byte what is built field by field, with its ICRC and its checksums.
TEST(AckFrame, IsWhatTheBuilderMakes) {
  Prng prng(1);
  test::TestPool pool(1);
  for (const bool v4 : {true, false}) {
    for (const int tags : {0, 1, 2}) {
      for (const bool checksum : {true, false}) {
        L2L3 net = test::endpoints(v4, tags);
        net.udp_checksum = checksum;
        RoceSpec r = ack(Qpn{static_cast<uint32_t>(prng.below(1 << 24))},
                         static_cast<uint16_t>(prng.below(65536)), prng.chance(0.5));
        AckFrame frame;
        EXPECT_FALSE(frame.prepared());
        frame.prepare(net, r.dest_qp, r.pkey, r.mig_req);
        EXPECT_TRUE(frame.prepared());
        for (int i = 0; i < 2000; ++i) {
          r.psn = Psn{static_cast<uint32_t>(prng.below(1 << 24))};
          r.msn = Msn{static_cast<uint32_t>(prng.below(1 << 24))};
          r.syndrome = static_cast<uint8_t>(prng.below(256));
          const PacketRef p = frame.make(r.psn, r.syndrome, r.msn, pool);
          ASSERT_TRUE(p);
          ASSERT_EQ(Buffer(p->data, p->data + p->size), test::build(net, r));
        }
      }
    }
  }
}

TEST(AckFrame, IsPreparedAnew) {
  test::TestPool pool(1);
  AckFrame frame;
  frame.prepare(test::endpoints(false, 2), Qpn{1}, 0xffff, true);
  frame.prepare(test::endpoints(true, 0), Qpn{2}, 0x8001, false);
  const PacketRef p = frame.make(Psn{7}, 31, Msn{3}, pool);
  RoceSpec r = ack(Qpn{2}, 0x8001, false);
  r.psn = Psn{7};
  r.syndrome = 31;
  r.msn = Msn{3};
  EXPECT_EQ(Buffer(p->data, p->data + p->size), test::build(test::endpoints(true, 0), r));
}

TEST(AckFrame, PoolExhaustion) {
  test::TestPool pool(0);
  AckFrame frame;
  frame.prepare(test::endpoints(true, 0), Qpn{1}, 0xffff, true);
  EXPECT_FALSE(frame.make(Psn{1}, 0, Msn{1}, pool));
}

}  // namespace
}  // namespace matchrdma
