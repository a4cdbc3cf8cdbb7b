#include <gtest/gtest.h>

#include <map>

#include "dataplane/base/prng.h"
#include "host/fabric/test_forwarding_nic.h"
#include "host/model_fabric/model_nic.h"
#include "host/xfer/model_transfer.h"
#include "host/xfer/sdr_messages.h"

namespace matchrdma::host {
namespace {

std::vector<uint8_t> random_bytes(size_t n, uint64_t seed) {
  Prng p(seed);
  std::vector<uint8_t> v(n);
  for (uint8_t& b : v) b = static_cast<uint8_t>(p.next());
  return v;
}

ModelTransferSettings lossy(XferScheme scheme) {
  ModelTransferSettings s;
  s.xfer.scheme = scheme;
  s.xfer.message_bytes = 1 << 20;
  s.xfer.code_k = 8;
  s.xfer.code_m = 2;
  s.there.loss = s.back.loss = 0.01;
  s.there.delay = s.back.delay = Duration::millis(1);
  return s;
}

TEST(Transfer, EverySchemeMovesEveryByte) {
  const std::vector<uint8_t> from = random_bytes(5'000'001, 1);
  for (const XferScheme scheme : {XferScheme::kSelectiveRepeat, XferScheme::kErasureCode, XferScheme::kXor,
                                  XferScheme::kReliable, XferScheme::kCells, XferScheme::kChannel}) {
    for (const bool copy : {false, true}) {
      if (copy && (scheme == XferScheme::kCells || scheme == XferScheme::kChannel)) continue;  // refused
      ModelTransferSettings s = lossy(scheme);
      s.xfer.copy = copy;
      std::vector<uint8_t> to(from.size());
      const auto r = run_model_transfer(s, from, to, [](uint64_t) {});
      ASSERT_TRUE(r.ok()) << r.error();
      EXPECT_EQ(to, from) << static_cast<int>(scheme) << copy;
      EXPECT_GT(r->lost, 0u);
      EXPECT_EQ(r->missing_bytes, 0u);
    }
  }
}

/// A NIC as real ones are: what is sent must lie in the region of its key.
class KeyedNic final : public test::ForwardingNic {
 public:
  using ForwardingNic::ForwardingNic;
  Result<Region> add_region(MutableBytes memory, Access access) override {
    auto r = nic_.add_region(memory, access);
    if (!r) return r;
    r->lkey = next_key_++;
    regions_[r->lkey] = memory;
    return r;
  }
  size_t post_send(QpHandle qp, std::span<const SendRequest> requests) override {
    for (const SendRequest& r : requests) {
      const auto region = regions_.find(r.lkey);
      const bool inside = region != regions_.end() && r.data.data() >= region->second.data() &&
                          r.data.data() + r.data.size() <= region->second.data() + region->second.size();
      if (!inside) ++outside;
    }
    return nic_.post_send(qp, requests);
  }
  uint64_t outside = 0;

 private:
  uint32_t next_key_ = 1000;
  std::map<uint32_t, MutableBytes> regions_;
};

TEST(Transfer, ASourceOfSeveralRegionsGoesOutWithTheKeyOfEach) {
  std::vector<uint8_t> from = random_bytes(5'000'001, 1), to(from.size());
  const ModelTransferSettings s = lossy(XferScheme::kErasureCode);
  const SdrOptions options = *sdr_options(s.xfer, 1);
  ModelNet net(1, NicModel{}, NicModel{});
  net.set_path(0, s.there);
  net.set_path(1, s.back);
  KeyedNic nic(net.nic(0));
  auto a = *SdrMessages::make(options, nic, net.now()), b = *SdrMessages::make(options, net.nic(1), net.now());
  for (const ControlMessage& m : a->take_control()) ASSERT_TRUE(b->on_control(m, net.now()));
  for (const ControlMessage& m : b->take_control()) ASSERT_TRUE(a->on_control(m, net.now()));
  SourceKeys keys{2 << 20, {}};
  for (size_t at = 0; at < from.size(); at += keys.region_bytes) {
    const size_t bytes = std::min<size_t>(keys.region_bytes, from.size() - at);
    keys.lkeys.push_back(nic.add_region(MutableBytes(from).subspan(at, bytes), Access::kLocal)->lkey);
  }
  TransferSend send(*a, from, keys, s.xfer.message_bytes, 8);
  TransferReceive receive(*b, to, s.xfer.message_bytes);
  for (int i = 0; i < 10'000'000 && !send.done(); ++i) {
    a->poll(net.now());
    send.poll();
    b->poll(net.now());
    receive.poll(net.now());
    net.run_until(net.now() + Duration::micros(5));
  }
  EXPECT_TRUE(send.done());
  EXPECT_EQ(to, from);
  EXPECT_EQ(nic.outside, 0u);
}

TEST(Transfer, BestEffortTellsWhatIsMissing) {
  const std::vector<uint8_t> from = random_bytes(5'000'001, 1);
  std::vector<uint8_t> to(from.size(), 0x55);
  const auto r = run_model_transfer(lossy(XferScheme::kBestEffort), from, to, [](uint64_t) {});
  ASSERT_TRUE(r.ok()) << r.error();
  uint64_t zeros = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    if (to[i] != from[i]) {
      EXPECT_EQ(to[i], 0) << i;
      ++zeros;
    }
  }
  EXPECT_GT(r->missing_bytes, 0u);
  EXPECT_LE(zeros, r->missing_bytes);
}

// C7: where one NIC has no UC, RC carries the bytes, and nothing is lost.
TEST(Transfer, WithoutUcAtOneEndRcTakesOver) {
  const std::vector<uint8_t> from = random_bytes(5'000'001, 1);
  for (const XferScheme scheme :
       {XferScheme::kSelectiveRepeat, XferScheme::kErasureCode, XferScheme::kXor, XferScheme::kBestEffort}) {
    for (const int without : {0, 1, 2}) {
      ModelTransferSettings s = lossy(scheme);
      s.uc_here = without != 1;
      s.uc_there = without != 2;
      std::vector<uint8_t> to(from.size());
      const auto r = run_model_transfer(s, from, to, [](uint64_t) {});
      ASSERT_TRUE(r.ok()) << r.error();
      EXPECT_EQ(r->scheme, without == 0 ? scheme : XferScheme::kReliable);
      if (without != 0) {
        EXPECT_EQ(to, from);
        EXPECT_EQ(r->missing_bytes, 0u);
      }
    }
  }
}

TEST(Transfer, TransportIsSettled) {
  XferSettings s;
  s.scheme = XferScheme::kBestEffort;
  s.hadamard = ElementType::kF32;
  EXPECT_EQ(settle(s, true, true)->instead, "");
  EXPECT_TRUE(settle(s, true, true)->settings.hadamard);
  EXPECT_EQ(settle(s, true, false)->instead,
            "the NIC of the other end has no UC: the NICs repair, and what they have repaired needs no code");
  EXPECT_FALSE(settle(s, true, false)->settings.hadamard) << "nothing is lost, so nothing is rounded";
  EXPECT_TRUE(sdr_options(settle(s, true, false)->settings, 1).ok());
  s.transport = XferTransport::kRc;
  EXPECT_EQ(settle(s, true, true)->settings.scheme, XferScheme::kReliable);
  s.transport = XferTransport::kUc;
  EXPECT_EQ(settle(s, true, true)->settings.scheme, XferScheme::kBestEffort);
  EXPECT_EQ(settle(s, false, true).error(),
            "transport uc: the NIC of this end has no UC; choose transport auto or rc");
  s.scheme = XferScheme::kReliable;
  EXPECT_NE(settle(s, true, true).error().find("RC's own"), std::string::npos);
}

TEST(Transfer, SettingsThatDoNotFitAreNamed) {
  ModelTransferSettings s = lossy(XferScheme::kErasureCode);
  std::vector<uint8_t> a(10), b(10);
  s.xfer.code_k = 300;
  EXPECT_FALSE(run_model_transfer(s, a, b, [](uint64_t) {}).ok());
  s = lossy(XferScheme::kSelectiveRepeat);
  s.xfer.message_bytes = uint64_t{1} << 45;
  const auto r = run_model_transfer(s, a, b, [](uint64_t) {});
  ASSERT_FALSE(r.ok());
  EXPECT_NE(r.error().find("send shorter messages"), std::string::npos) << r.error();
}

/// Two ends on one model, with buffers of the messages' own lengths.
struct EndPair {
  explicit EndPair(XferScheme scheme, uint64_t most) : net(1, NicModel{}, NicModel{}, 4) {
    XferSettings s;
    s.scheme = scheme;
    s.message_bytes = most;
    s.round_trip = Duration::micros(20);
    a = *make_end(s, 1, XferSide::kSends, net.nic(0), net.now());
    b = *make_end(s, 1, XferSide::kReceives, net.nic(1), net.now());
    for (MessageEnd* const end : {a.get(), b.get()}) end->on_peer(1, net.now());
  }
  void step() {
    for (auto* const from : {&a, &b}) {
      MessageEnd& to = from == &a ? *b : *a;
      (*from)->poll(net.now());
      for (const ControlMessage& m : (*from)->take_control()) EXPECT_TRUE(to.on_control(m, net.now()));
    }
    net.run_until(net.now() + Duration::micros(1));
  }
  ModelNet net;
  std::unique_ptr<MessageEnd> a, b;
};

// The n-th message goes into the n-th buffer, whatever their lengths, and nothing is written into it later.
TEST(Transfer, EachMessageGoesIntoItsOwnBuffer) {
  for (const XferScheme scheme : {XferScheme::kSelectiveRepeat, XferScheme::kErasureCode, XferScheme::kReliable,
                                  XferScheme::kCells, XferScheme::kChannel}) {
    Prng p(7);
    std::vector<std::vector<uint8_t>> from, to;
    for (uint64_t m = 0; m < 60; ++m) {
      from.push_back(random_bytes(static_cast<size_t>(p.between(1, p.chance(0.5) ? 5000 : 100'000)), m));
      to.emplace_back(from.back().size());
    }
    EndPair ends(scheme, 100'000);
    for (const auto& m : from) ASSERT_TRUE(ends.a->send(m, 0).ok());
    size_t posted = 0, received = 0;
    for (int i = 0; i < 3'000'000 && received < from.size(); ++i) {
      while (posted < to.size() && ends.b->receive_post(to[posted], ends.net.now())->has_value()) ++posted;
      ends.step();
      while (const auto r = ends.b->take_received()) {
        EXPECT_EQ(to[r->message], from[r->message]) << static_cast<int>(scheme) << ' ' << r->message;
        to[r->message].assign(to[r->message].size(), 0xab);  // the application's own by now
        ++received;
      }
    }
    EXPECT_EQ(received, from.size()) << static_cast<int>(scheme);
    for (const auto& t : to) EXPECT_EQ(t, std::vector<uint8_t>(t.size(), 0xab)) << static_cast<int>(scheme);
  }
}

TEST(Transfer, AMessageLongerThanItsBufferIsNeverCut) {
  for (const XferScheme scheme :
       {XferScheme::kSelectiveRepeat, XferScheme::kReliable, XferScheme::kCells, XferScheme::kChannel}) {
    for (const size_t bytes : {100'000u, 3000u}) {
      const std::vector<uint8_t> from = random_bytes(bytes, 1);
      std::vector<uint8_t> shorter(bytes / 2), longer(2 * bytes);
      EndPair ends(scheme, 200'000);
      ASSERT_TRUE(ends.a->send(from, 0).ok());
      std::string why;
      for (MutableBytes buffer : {MutableBytes(shorter), MutableBytes(longer)})
        EXPECT_TRUE(ends.b->receive_post(buffer, ends.net.now())->has_value());
      for (int i = 0; i < 20'000 && why.empty(); ++i) {
        ends.step();
        EXPECT_FALSE(ends.b->take_received().has_value()) << static_cast<int>(scheme);
        if (const auto sent = ends.a->take_sent()) why = sent->error.empty() ? "sent" : sent->error;
        if (why.empty()) why = ends.b->error();
      }
      EXPECT_NE(why.find(std::to_string(bytes)), std::string::npos) << static_cast<int>(scheme) << ": " << why;
    }
  }
}

}  // namespace
}  // namespace matchrdma::host
