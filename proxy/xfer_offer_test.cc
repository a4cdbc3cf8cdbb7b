#include "proxy/xfer_offer.h"

#include <gtest/gtest.h>

#include "proxy/xfer_options.h"
#include "proxy/xfer_plan.h"

namespace matchrdma {
namespace {

host::XferSettings settings(host::XferScheme scheme) {
  host::XferSettings s;
  s.scheme = scheme;
  s.message_bytes = 1 << 20;
  s.code_k = 8;
  s.code_m = 2;
  s.rate = Rate{100'000'000};
  s.round_trip = Duration::millis(100);
  s.messages_ahead = host::messages_ahead(s.rate, s.round_trip, s.message_bytes);
  s.copy = true;
  return s;
}

host::NicLimits nic() {
  host::NicLimits n;
  n.name = "rxe0";
  n.uc = true;
  return n;
}

TEST(XferOffer, BothEndsComeToTheSameShape) {
  for (const auto scheme :
       {host::XferScheme::kSelectiveRepeat, host::XferScheme::kErasureCode, host::XferScheme::kXor,
        host::XferScheme::kBestEffort, host::XferScheme::kReliable}) {
    const host::XferSettings s = settings(scheme);
    const auto offer = make_offer(s, 5'000'001, 77);
    ASSERT_TRUE(offer.ok()) << offer.error();
    const auto taken = take_offer(*offer, nic());
    ASSERT_TRUE(taken.ok()) << taken.error();
    const auto mine = host::sdr_options(s, 77), theirs = host::sdr_options(*taken, 77);
    EXPECT_EQ(theirs->shape.layout, mine->shape.layout);
    EXPECT_EQ(theirs->shape.epoch, 77u);
    EXPECT_EQ(theirs->shape.packet_bytes, mine->shape.packet_bytes);
    EXPECT_EQ(theirs->shape.code_k, mine->shape.code_k);
    EXPECT_EQ(theirs->shape.code_m, mine->shape.code_m);
    EXPECT_EQ(theirs->transport, mine->transport);
    EXPECT_EQ(theirs->receiver.slots, mine->receiver.slots);
    EXPECT_TRUE(theirs->receiver.copy);
    EXPECT_EQ(theirs->connection.timeout_exponent, mine->connection.timeout_exponent);
  }
}

TEST(XferOffer, BothEndsCutTheSameCells) {
  host::XferSettings s = settings(host::XferScheme::kCells);
  s.copy = false;
  s.paths = 3;
  s.proxied = true;
  const auto offer = make_offer(s, 5'000'001, 77);
  ASSERT_TRUE(offer.ok()) << offer.error();
  host::NicLimits without_uc = nic();
  without_uc.uc = false;
  const auto taken = take_offer(*offer, without_uc);
  ASSERT_TRUE(taken.ok()) << taken.error();
  const auto mine = host::flowcell_options(s), theirs = host::flowcell_options(*taken);
  EXPECT_EQ(theirs->shape, mine->shape);
  EXPECT_EQ(theirs->soft_floor, Duration::millis(100));
  EXPECT_EQ(theirs->rate, mine->rate);
  s.paths = 65;
  EXPECT_NE(make_offer(s, 1, 1).error().find("choose 1 to 64"), std::string::npos);
}

TEST(XferOffer, TheTransformIsAgreedOn) {
  host::XferSettings s = settings(host::XferScheme::kBestEffort);
  for (const auto type : {host::ElementType::kF32, host::ElementType::kBf16, host::ElementType::kF16}) {
    s.hadamard = type;
    auto offer = *make_offer(s, 5'000'001, 77);
    EXPECT_EQ(host::sdr_options(*take_offer(offer, nic()), 77)->shape, host::sdr_options(s, 77)->shape);
    offer.scheme = 0;
    EXPECT_FALSE(take_offer(offer, nic()).ok());
    offer.transform = 4;
    EXPECT_NE(take_offer(offer, nic()).error().find("element type number 4"), std::string::npos);
  }
}

TEST(XferOffer, FourRoundTripsAreGranted) {
  const host::XferSettings s = settings(host::XferScheme::kSelectiveRepeat);
  EXPECT_GE(uint64_t{s.messages_ahead + 1} * s.message_bytes, 4u * 100'000'000 / 8 / 10);
  EXPECT_GE(4.096e3 * (1 << host::sdr_options(s, 1)->connection.timeout_exponent), 400e6) << "4 RTT, HOST.md";
}

TEST(XferOffer, RefusalsSayWhatToDo) {
  const auto why = [](auto change, auto limit) {
    auto offer = *make_offer(settings(host::XferScheme::kErasureCode), 1000, 1);
    change(offer);
    host::NicLimits n = nic();
    limit(n);
    const auto taken = take_offer(offer, n);
    return taken.ok() ? std::string() : taken.error();
  };
  const auto same = [](auto&) {};
  EXPECT_EQ(why(same, same), "");
  EXPECT_NE(why(same, [](host::NicLimits& n) { n.uc = false; }).find("--transport auto or rc"),
            std::string::npos);
  EXPECT_NE(why(same, [](host::NicLimits& n) { n.max_path_mtu = 1024; }).find("choose 1024"),
            std::string::npos);
  using Offer = host::TransferOffer;
  EXPECT_NE(why([](Offer& o) { o.scheme = 99; }, same).find("same release"), std::string::npos);
  EXPECT_NE(why([](Offer& o) { o.layout = {9, 17, 6}; }, same).find("same release"), std::string::npos);
  EXPECT_NE(why([](Offer& o) { o.bytes = kMostXferBytes + 1; }, same).find("at a time"), std::string::npos);
  for (const auto& wrong : std::vector<void (*)(Offer&)>{
           [](Offer& o) { o.message_bytes = 0; }, [](Offer& o) { o.rate = 0; },
           [](Offer& o) { o.rate = UINT64_MAX; }, [](Offer& o) { o.round_trip = UINT64_MAX; },
           [](Offer& o) { o.messages_ahead = UINT32_MAX; }, [](Offer& o) { o.code_k = 300; },
           [](Offer& o) { o.bytes = 0; }})
    EXPECT_NE(why(wrong, same), "");
}

// C7: each transfer once, and one line that says why it is another than was asked for.
TEST(XferPlan, WithoutUcEverySchemeIsRc) {
  const std::vector<host::XferScheme> all{host::XferScheme::kSelectiveRepeat, host::XferScheme::kErasureCode,
                                          host::XferScheme::kReliable};
  const auto with = plan_transfers(settings(all[0]), all, true, true);
  ASSERT_EQ(with->size(), 3u);
  for (const PlannedTransfer& p : *with) EXPECT_EQ(p.note(), "");
  const auto without = plan_transfers(settings(all[0]), all, false, true);
  ASSERT_EQ(without->size(), 1u);
  EXPECT_EQ(without->front().settings.scheme, host::XferScheme::kReliable);
  EXPECT_EQ(
      without->front().note(),
      "rc in place of sr, ec: the NIC of this end has no UC: the NICs repair, and what they have repaired "
      "needs no code");
  host::XferSettings s = settings(all[0]);
  s.transport = host::XferTransport::kUc;
  EXPECT_FALSE(plan_transfers(s, {all[0]}, true, false).ok());
}

TEST(XferOffer, LiveOptions) {
  const auto read = [](XferArguments a) {
    const auto r = read_xfer(a);
    return r.ok() ? "ok " + r->ip + " " + std::to_string(r->port) : r.error();
  };
  XferArguments a;
  a.device = "rxe0";
  EXPECT_NE(read(a).find("--listen ADDRESS"), std::string::npos);
  a.listen = "192.0.2.1";
  EXPECT_NE(read(a).find("--key"), std::string::npos);
  a.key = "k";
  EXPECT_EQ(read(a), "ok 192.0.2.1 18515");
  a.listen = "[2001:db8::1]:7";
  EXPECT_EQ(read(a), "ok 2001:db8::1 7");
  a.listen = "somewhere";
  EXPECT_NE(read(a).find("--listen somewhere: not an address"), std::string::npos);
  a.listen = "::";
  a.input = "f";
  EXPECT_NE(read(a).find("listens receives"), std::string::npos);
  a.input.clear();
  a.connect = "192.0.2.1";
  EXPECT_NE(read(a).find("--listen ADDRESS"), std::string::npos);
  a.listen.clear();
  a.output = "f";
  EXPECT_NE(read(a).find("this end sends"), std::string::npos);
  a.output.clear();
  EXPECT_EQ(read(a), "ok 192.0.2.1 18515");
  a.device.clear();
  EXPECT_NE(read(a).find("--connect needs the --device"), std::string::npos);
}

}  // namespace
}  // namespace matchrdma
