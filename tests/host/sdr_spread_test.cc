// Best effort with the transform (HOST.md sdr, H18), over the model fabric.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "host/code/small_float.h"
#include "host/xfer/model_transfer.h"
#include "tests/host/sdr_rig.h"

namespace matchrdma::host::test {
namespace {

constexpr size_t kNumbers = 256 * 1024;  // one message: 256 packets of 4096 bytes

ModelTransferSettings settings(std::optional<ElementType> type, double loss) {
  ModelTransferSettings s;
  s.xfer.scheme = XferScheme::kBestEffort;
  s.xfer.hadamard = type;
  s.xfer.message_bytes = kNumbers * 4;
  s.there.delay = s.back.delay = Duration::millis(1);
  s.there.loss = loss;
  return s;
}

double normal(Prng& p) {
  return std::sqrt(-2 * std::log(1 - p.unit())) * std::cos(6.283185307179586 * p.unit());
}

/// As gradients are: most numbers small, those of a few layers a thousand times larger, side by side.
std::vector<float> gradient(size_t n, uint64_t seed) {
  Prng p(seed);
  std::vector<float> v(n);
  for (size_t i = 0; i < n; ++i)
    v[i] = static_cast<float>(normal(p) * (i / 2048 % 64 == 7 ? 1 : 0.001));  // two packets of 128
  return v;
}

template <class T>
Bytes bytes_of(const std::vector<T>& v) {
  return {reinterpret_cast<const uint8_t*>(v.data()), v.size() * sizeof(T)};
}
template <class T>
MutableBytes bytes_of(std::vector<T>& v) {
  return {reinterpret_cast<uint8_t*>(v.data()), v.size() * sizeof(T)};
}

double energy(const std::vector<float>& v) {
  double sum = 0;
  for (const float f : v) sum += static_cast<double>(f) * static_cast<double>(f);
  return sum;
}

double squared_error(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> off(a.size());
  for (size_t i = 0; i < a.size(); ++i) off[i] = a[i] - b[i];
  return energy(off);
}

std::vector<float> moved(const std::vector<float>& from, const ModelTransferSettings& s,
                         ModelTransferResult* out = nullptr) {
  std::vector<float> to(from.size());
  const auto r = run_model_transfer(s, bytes_of(from), bytes_of(to), [](uint64_t) {});
  EXPECT_TRUE(r.ok()) << r.error();
  if (r && out != nullptr) *out = *r;
  return to;
}

TEST(SdrSpread, WithoutLossNumbersComeBackWithinRounding) {
  const std::vector<float> from = gradient(kNumbers + 3, 1);
  ModelTransferResult r;
  const std::vector<float> to = moved(from, settings(ElementType::kF32, 0), &r);
  EXPECT_EQ(r.missing_bytes, 0u);
  EXPECT_LT(squared_error(from, to), 1e-12 * energy(from));
  EXPECT_NE(from, to) << "nothing was transformed";
}

TEST(SdrSpread, SmallTypesComeBackWithinRounding) {
  const std::vector<float> numbers = gradient(kNumbers, 1);
  for (const ElementType type : {ElementType::kBf16, ElementType::kF16}) {
    const auto write = type == ElementType::kBf16 ? to_bf16 : to_f16;
    const auto read = type == ElementType::kBf16 ? from_bf16 : from_f16;
    std::vector<uint16_t> from, to(numbers.size());
    for (const float f : numbers) from.push_back(write(f));
    const auto r = run_model_transfer(settings(type, 0), bytes_of(from), bytes_of(to), [](uint64_t) {});
    ASSERT_TRUE(r.ok()) << r.error();
    std::vector<float> a, b;
    for (size_t i = 0; i < from.size(); ++i) {
      a.push_back(read(from[i]));
      b.push_back(read(to[i]));
    }
    const double unit = type == ElementType::kBf16 ? 0x1p-8 : 0x1p-11;
    EXPECT_LT(squared_error(a, b), 2 * unit * unit * energy(a));
  }
}

// With zeros it depends on which packets are lost: some runs lose the numbers that matter. With the transform
// every run loses as much as every other.
TEST(SdrSpread, LossCostsEveryRunTheSame) {
  const std::vector<float> from = gradient(kNumbers, 3);
  double worst_spread = 0, worst_zeros = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    ModelTransferSettings s = settings(ElementType::kF32, 0.05);
    s.seed = s.xfer.hadamard_seed = seed;
    ModelTransferResult r;
    worst_spread = std::max(worst_spread, squared_error(from, moved(from, s, &r)) / energy(from));
    EXPECT_GT(r.missing_bytes, 0u);
    s.xfer.hadamard.reset();
    worst_zeros = std::max(worst_zeros, squared_error(from, moved(from, s)) / energy(from));
  }
  EXPECT_LT(worst_spread, 0.12);
  EXPECT_GT(worst_zeros, 2 * worst_spread) << "the loss met no large numbers: this shows nothing";
}

// The error of one run is everywhere, and that of many is none.
TEST(SdrSpread, TheErrorHasNoBiasAndIsSpread) {
  const std::vector<float> from = gradient(kNumbers / 4, 4);
  constexpr int kRuns = 64;
  std::vector<double> sum(from.size());
  double one = 0;
  for (uint64_t seed = 1; seed <= kRuns; ++seed) {
    ModelTransferSettings s = settings(ElementType::kF32, 0.05);
    s.seed = s.xfer.hadamard_seed = seed;
    const std::vector<float> to = moved(from, s);
    one += squared_error(from, to) / kRuns;
    size_t zeros = 0;
    for (size_t i = 0; i < to.size(); ++i) {
      sum[i] += static_cast<double>(to[i]) / kRuns;
      zeros += to[i] == 0 ? 1 : 0;
    }
    EXPECT_LT(zeros, to.size() / 1000) << "ranges are zero";
  }
  double of_mean = 0;
  for (size_t i = 0; i < from.size(); ++i)
    of_mean += (sum[i] - static_cast<double>(from[i])) * (sum[i] - static_cast<double>(from[i]));
  EXPECT_GT(one, 0);
  EXPECT_LT(of_mean, 2 * one / kRuns) << "the mean of many is no better than one: a bias";
}

TEST(SdrSpread, NaNAndInfinityAreRefusedAtOnce) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity()}) {
    std::vector<float> from = gradient(kNumbers, 5), to(from.size());
    from[77'777] = bad;
    const auto r =
        run_model_transfer(settings(ElementType::kF32, 0), bytes_of(from), bytes_of(to), [](uint64_t) {});
    ASSERT_FALSE(r.ok());
    EXPECT_NE(r.error().find("NaN or infinity among elements 77568 to 77823"), std::string::npos) << r.error();
    EXPECT_NE(r.error().find("without the transform"), std::string::npos);
  }
}

// A message that is refused takes no number and no buffer: the next goes through.
TEST(SdrSpread, ARefusedMessageLeavesTheConnectionAsItWas) {
  const SdrOptions options = *sdr_options(settings(ElementType::kF32, 0).xfer, 1);
  const NicModel nic;
  ModelNet net(1, nic, nic);
  auto a = *SdrEndpoint::make(options, net.nic(0), {}), b = *SdrEndpoint::make(options, net.nic(1), {});
  ASSERT_TRUE(a->connect(b->addresses()).ok() && b->connect(a->addresses()).ok());
  std::vector<float> bad(100, std::nanf("")), good(100, 1), to(100);
  ASSERT_TRUE(b->receiver().receive_post(bytes_of(to), {}).ok());
  EXPECT_FALSE(a->sender().send(bytes_of(bad), 0).ok());
  EXPECT_EQ(*a->sender().send(bytes_of(good), 0), 0u);
  for (int i = 0; i < 10'000 && b->receiver().under_way() > 0; ++i) {
    a->poll(net.now());
    b->poll(net.now());
    net.run_until(net.now() + Duration::micros(10));
  }
  EXPECT_LT(squared_error(good, to), 1e-9);
}

// Lengths that are no multiple of an element, a block, a packet: what is behind the last element comes as it
// is.
TEST(SdrSpread, AnyLength) {
  for (const uint64_t bytes : {1u, 3u, 4u, 7u, 63u, 64u, 65u, 1027u, 6401u, 65'537u}) {
    for (const ElementType type : {ElementType::kF32, ElementType::kBf16, ElementType::kF16}) {
      for (const double loss : {0.0, 0.2}) {
        RigSettings s;
        s.there.loss = loss;
        s.sdr.shape.packet_bytes = 64;
        s.sdr.shape.hadamard = type;
        s.sdr.shape.layout = *ImmediateLayout::of(8, 2000);
        s.sdr.connection.path_mtu = 1024;
        s.sdr.receiver.give_up = Duration::millis(1);
        s.sdr.receiver.copy = loss > 0;
        s.traffic.least_bytes = s.traffic.most_bytes = bytes;
        s.traffic.messages = 3;
        SdrRig rig(s);
        EXPECT_EQ(rig.run(), "") << bytes;
      }
    }
  }
}

TEST(SdrSpread, OnlyBestEffortTransforms) {
  for (const XferScheme scheme :
       {XferScheme::kSelectiveRepeat, XferScheme::kErasureCode, XferScheme::kXor, XferScheme::kReliable}) {
    XferSettings s = settings(ElementType::kF32, 0).xfer;
    s.scheme = scheme;
    const auto o = sdr_options(s, 1);
    ASSERT_FALSE(o.ok());
    EXPECT_NE(o.error().find("only best effort"), std::string::npos) << o.error();
  }
  SdrOptions o = *sdr_options(settings(ElementType::kF32, 0).xfer, 1);
  ModelNet net(1, NicModel{}, NicModel{});
  o.shape.code_k = 8;
  o.shape.code_m = 2;
  EXPECT_FALSE(SdrEndpoint::make(o, net.nic(0), {}).ok());
  o.shape.code_k = o.shape.code_m = 0;
  o.shape.packet_bytes = 1022;
  EXPECT_FALSE(SdrEndpoint::make(o, net.nic(0), {}).ok());
}

}  // namespace
}  // namespace matchrdma::host::test
