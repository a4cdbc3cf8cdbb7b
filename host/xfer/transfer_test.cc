#include <gtest/gtest.h>

#include "dataplane/base/prng.h"
#include "host/xfer/model_transfer.h"

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
  for (const XferScheme scheme :
       {XferScheme::kSelectiveRepeat, XferScheme::kErasureCode, XferScheme::kXor, XferScheme::kReliable}) {
    for (const bool copy : {false, true}) {
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

}  // namespace
}  // namespace matchrdma::host
