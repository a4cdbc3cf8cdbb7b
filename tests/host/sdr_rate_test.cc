// What SDR takes for a message over a long link, against the same link without loss and against go-back-N. The
// figures of HOST.md; virtual time, so they are the same on every machine.
#include <gtest/gtest.h>

#include "tests/host/sdr_rig.h"

namespace matchrdma::host::test {
namespace {

/// One message, grants given ahead, hosts that look at once.
RigSettings long_link(double gigabits, Duration one_way, uint64_t bytes, double loss) {
  RigSettings s;
  s.there.gigabits = s.back.gigabits = gigabits;
  s.there.delay = s.back.delay = one_way;
  s.there.loss = s.back.loss = loss;
  s.traffic.messages = 1;
  s.traffic.buffers = 1;
  s.traffic.least_bytes = s.traffic.most_bytes = bytes;
  SdrOptions& o = s.sdr;
  o.shape.packet_bytes = 4096;
  o.connection.path_mtu = 4096;
  o.shape.datagram_bytes = 4096;
  o.shape.layout = *ImmediateLayout::of(2, bytes / 4096 + 1);
  o.receiver.slots = 2;
  o.sender.rate = {static_cast<int64_t>(gigabits * 1e9)};
  o.sender.expected_loss = 0.05;
  o.sender.first_round_trip = one_way * 2;
  o.receive_queue = 1 << 14;
  return s;
}

double milliseconds(const RigSettings& s) {
  SdrRig rig(s);
  const std::string wrong = rig.run();
  EXPECT_EQ(wrong, "");
  return static_cast<double>((rig.released_at() - rig.began_at()).ns) / 1e6;
}

void coded(RigSettings& s, uint32_t k, uint32_t m) {
  s.sdr.shape.code_k = k;
  s.sdr.shape.code_m = m;
  s.sdr.shape.layout = *ImmediateLayout::of(4, s.traffic.most_bytes / 4096 + 1);
  s.sdr.receiver.slots = 4;
}

// HOST.md: 400 Gb/s, 25 ms RTT, 128 MiB, 1e-5.
TEST(SdrRate, ErasureCodeHidesLossBehindItsParity) {
  const RigSettings clean = long_link(400, Duration::micros(12'500), 128 << 20, 0);
  RigSettings lossy = clean;
  lossy.there.loss = lossy.back.loss = 1e-5;
  coded(lossy, 32, 8);
  const double without = milliseconds(clean), with = milliseconds(lossy);
  RecordProperty("clean_us", static_cast<int>(1000 * without));
  RecordProperty("coded_us", static_cast<int>(1000 * with));
  EXPECT_LE(with, 1.05 * without) << with << " ms of " << without;
}

TEST(SdrRate, LossFreeTakesItsBytesAndARoundTrip) {
  const double t = milliseconds(long_link(400, Duration::micros(12'500), 128 << 20, 0));
  EXPECT_NEAR(t, 27.7, 0.02 * 27.7);
}

// 1e-2 at 1000 km: each loss costs go-back-N a round trip, the others one or two in all.
TEST(SdrRate, GoBackNIsFiveTimesSlower) {
  const RigSettings selective = long_link(400, Duration::millis(5), 16 << 20, 1e-2);
  RigSettings reliable = selective, code = selective;
  reliable.sdr.transport = Transport::kRc;
  reliable.sdr.shape.packet_bytes = 64 << 10;
  reliable.sdr.connection.timeout_exponent = 14;
  coded(code, 32, 8);
  const double sr = milliseconds(selective), ec = milliseconds(code), rc = milliseconds(reliable);
  RecordProperty("selective_us", static_cast<int>(1000 * sr));
  RecordProperty("coded_us", static_cast<int>(1000 * ec));
  RecordProperty("go_back_n_us", static_cast<int>(1000 * rc));
  EXPECT_GE(rc, 5 * sr) << rc << " ms, selective " << sr;
  EXPECT_GE(rc, 5 * ec) << rc << " ms, coded " << ec;
}

// Hosts that look late and a way back that halts now and then: the shortest round trip is not the usual one.
// A report that was made before a resend came must not start another.
TEST(SdrRate, SlowReportsStartNoSecondResend) {
  RigSettings s = long_link(10, Duration::micros(10), 64 << 20, 1e-2);
  s.back.loss = 0;
  s.sdr.sender.rate = {5'000'000'000};
  s.back.stall = 0.05;
  s.back.stall_for = Duration::millis(4);
  SdrRig rig(s);
  ASSERT_EQ(rig.run(), "");
  const uint64_t resent = rig.a().sender().counters().resent, twice = rig.b().receiver().counters().duplicates;
  RecordProperty("resent", static_cast<int>(resent));
  RecordProperty("twice", static_cast<int>(twice));
  EXPECT_GT(resent, 0u);
  EXPECT_LE(twice, resent / 20) << twice << " of " << resent;
}

// C8: what leaves at once is 64 packets of the path MTU, also where a request is longer than one.
TEST(SdrRate, LongRequestsArePacedLikeOthers) {
  RigSettings s = long_link(100, Duration::micros(10), 4 << 20, 0);
  s.sdr.transport = Transport::kRc;
  s.sdr.shape.packet_bytes = 64 << 10;
  s.sdr.sender.rate = {1'000'000'000};
  EXPECT_GE(milliseconds(s), 0.9 * (4 << 20) * 8 / 1e6);
}

}  // namespace
}  // namespace matchrdma::host::test
