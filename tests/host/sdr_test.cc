#include <gtest/gtest.h>

#include "tests/host/sdr_rig.h"

namespace matchrdma::host::test {
namespace {

RigSettings usual() {
  RigSettings s;
  s.there.delay = s.back.delay = Duration::millis(1);
  s.sdr.shape.packet_bytes = 1024;
  s.sdr.shape.layout = *ImmediateLayout::of(8, 128);
  s.sdr.connection.path_mtu = 1024;
  s.sdr.sender.rate = {10'000'000'000};
  s.sdr.receiver.slots = 8;
  return s;
}

TEST(Sdr, CleanPathCarriesEachPacketOnce) {
  SdrRig rig(usual());
  EXPECT_EQ(rig.run(), "");
  EXPECT_EQ(rig.a().sender().counters().resent, 0u);
  EXPECT_EQ(rig.b().receiver().counters().duplicates, 0u);
}

TEST(Sdr, LossIsRepaired) {
  for (const double loss : {0.001, 0.01, 0.2}) {
    RigSettings s = usual();
    s.there.loss = s.back.loss = loss;
    s.messages = 50;
    SdrRig rig(s);
    EXPECT_EQ(rig.run(), "") << loss;
    if (loss >= 0.01) {
      EXPECT_GT(rig.a().sender().counters().resent, 0u);
    }
  }
}

}  // namespace
}  // namespace matchrdma::host::test
