#include "host/code/hadamard.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <vector>

#include "dataplane/base/prng.h"
#include "host/code/small_float.h"

namespace matchrdma::host {
namespace {

constexpr std::array kTypes{ElementType::kF32, ElementType::kBf16, ElementType::kF16};
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<uint8_t> bytes_of(ElementType type, const std::vector<float>& values) {
  std::vector<uint8_t> b(values.size() * element_bytes(type));
  for (size_t i = 0; i < values.size(); ++i) {
    const uint16_t small = type == ElementType::kBf16
                               ? static_cast<uint16_t>(std::bit_cast<uint32_t>(values[i]) >> 16)
                           : std::isnan(values[i]) ? uint16_t{0x7e00}
                                                   : to_f16(values[i]);
    if (type == ElementType::kF32) std::memcpy(&b[i * 4], &values[i], 4);
    if (type != ElementType::kF32) std::memcpy(&b[i * 2], &small, 2);
  }
  return b;
}
std::vector<float> values_of(ElementType type, const std::vector<uint8_t>& b) {
  std::vector<float> values(b.size() / element_bytes(type));
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t small = 0;
    if (type == ElementType::kF32) std::memcpy(&values[i], &b[i * 4], 4);
    if (type != ElementType::kF32) {
      std::memcpy(&small, &b[i * 2], 2);
      values[i] = type == ElementType::kBf16 ? from_bf16(small) : from_f16(small);
    }
  }
  return values;
}

/// About normal, deviation 1.
float normal(Prng& prng) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += prng.unit();
  return static_cast<float>(sum);
}
std::vector<float> normals(Prng& prng, size_t n) {
  std::vector<float> v(n);
  for (float& x : v) x = normal(prng);
  return v;
}

HadamardTransform transform_of(const HadamardShape& shape) { return HadamardTransform::make(shape).value(); }

using Bitmap = std::vector<uint64_t>;
Bitmap all_of(const HadamardTransform& t) { return Bitmap((t.packets() + 63) / 64, ~uint64_t{0}); }
void lose(Bitmap& b, uint64_t packet) { b[packet / 64] &= ~(uint64_t{1} << packet % 64); }
Bitmap lossy(const HadamardTransform& t, Prng& prng, double p) {
  Bitmap b = all_of(t);
  for (uint64_t i = 0; i < t.packets(); ++i) {
    if (prng.chance(p)) lose(b, i);
  }
  return b;
}

/// What the receiver makes of it; what it did not get is full of NaN.
std::vector<float> there_and_back(const HadamardShape& shape, const std::vector<float>& values,
                                  const Bitmap& received, uint64_t seed, uint64_t nothing = 0) {
  const HadamardTransform t = transform_of(shape);
  std::vector<uint8_t> sent(t.encoded_bytes()), back(shape.message_bytes);
  const auto encoded = t.encode(bytes_of(shape.type, values), sent, seed);
  EXPECT_TRUE(encoded.ok()) << encoded.error();
  for (size_t i = 0; i < sent.size(); ++i) {
    const uint64_t packet = i / shape.packet_bytes;
    if ((received[packet / 64] >> packet % 64 & 1) == 0) sent[i] = 0xff;
  }
  EXPECT_EQ(t.decode(sent, received, seed, back), nothing);
  return values_of(shape.type, back);
}

TEST(Hadamard, APacketHoldsAtMostOneElementOfABlock) {
  Prng prng(1);
  for (int round = 0; round < 300; ++round) {
    HadamardShape s;
    s.type = kTypes[prng.below(3)];
    s.packet_bytes = element_bytes(s.type) * static_cast<uint32_t>(prng.between(1, 40));
    s.message_bytes = element_bytes(s.type) * static_cast<uint64_t>(prng.between(1, 5000));
    s.max_block_bits = static_cast<uint32_t>(prng.between(0, 7));
    const HadamardTransform t = transform_of(s);
    const uint64_t blocks = t.encoded_bytes() / element_bytes(s.type) / t.block_elements();
    ASSERT_GE(t.encoded_bytes(), s.message_bytes);
    ASSERT_LT(t.encoded_bytes(), s.message_bytes + t.block_elements() * element_bytes(s.type));
    std::set<uint64_t> places;
    for (uint64_t b = 0; b < blocks; ++b) {
      std::set<uint64_t> packets;
      for (uint32_t i = 0; i < t.block_elements(); ++i) {
        const uint64_t at = t.sent_as(b, i);
        ASSERT_LT(at * element_bytes(s.type), t.encoded_bytes());
        places.insert(at);
        packets.insert(at * element_bytes(s.type) / s.packet_bytes);
      }
      ASSERT_EQ(packets.size(), t.block_elements());
    }
    ASSERT_EQ(places.size(), blocks * t.block_elements());
  }
}

TEST(Hadamard, BlocksAreAsLargeAsTheMessageAllows) {
  const auto block = [](uint64_t bytes) { return transform_of({.message_bytes = bytes}).block_elements(); };
  EXPECT_EQ(block(4), 1u);
  EXPECT_EQ(block(2 * 4096 - 4), 1u);
  EXPECT_EQ(block(2 * 4096), 2u);
  EXPECT_EQ(block(256 * 4096 - 4), 128u);
  EXPECT_EQ(block(256 * 4096), 256u);
  EXPECT_EQ(block(uint64_t{1} << 40), 256u);
}

TEST(Hadamard, NothingLostIsTheIdentity) {
  Prng prng(2);
  for (const ElementType type : kTypes) {
    for (const uint64_t elements : {1, 7, 100, 4096, 40'000, 300'001}) {
      const HadamardShape s{type, elements * element_bytes(type), 512, 8};
      const std::vector<float> exact = normals(prng, elements), values = values_of(type, bytes_of(type, exact));
      const auto back = there_and_back(s, values, all_of(transform_of(s)), elements);
      // Rounding of what is sent (half a unit of the type at up to 5 deviations, 256 errors that add as a
      // root), and of the result.
      const float unit = type == ElementType::kF32 ? 0x1p-22f : type == ElementType::kBf16 ? 0x1p-8f : 0x1p-11f;
      for (size_t i = 0; i < elements; ++i)
        ASSERT_NEAR(back[i], values[i], 6 * unit) << i << " of " << elements;
    }
  }
}

TEST(Hadamard, TheSeedMatters) {
  Prng prng(3);
  const HadamardShape s{ElementType::kF32, 64 * 1024, 512, 6};
  const HadamardTransform t = transform_of(s);
  const std::vector<uint8_t> message = bytes_of(s.type, normals(prng, 16 * 1024));
  std::vector<uint8_t> one(t.encoded_bytes()), two(t.encoded_bytes());
  ASSERT_TRUE(t.encode(message, one, 1).ok());
  ASSERT_TRUE(t.encode(message, two, 2).ok());
  EXPECT_NE(one, two);
  ASSERT_TRUE(t.encode(message, two, 1).ok());
  EXPECT_EQ(one, two);
}

struct Bias {
  double slope;          ///< of the estimate over the truth: 1
  double worst, square;  ///< of the elements' mean errors, in standard errors of a mean
};

/// Mean estimate of each element over many seeds.
Bias bias(const HadamardShape& s, bool same_packets_lost) {
  constexpr int kSeeds = 3000;
  Prng prng(4);
  const HadamardTransform t = transform_of(s);
  const std::vector<float> values =
      values_of(s.type, bytes_of(s.type, normals(prng, s.message_bytes / element_bytes(s.type))));
  std::vector<double> sum(values.size()), squares(values.size());
  Bitmap received = lossy(t, prng, 0.1);
  for (int seed = 0; seed < kSeeds; ++seed) {
    if (!same_packets_lost) received = lossy(t, prng, 0.1);
    const auto back = there_and_back(s, values, received, seed);
    for (size_t i = 0; i < values.size(); ++i) {
      const double error = back[i] - values[i];
      sum[i] += error;
      squares[i] += error * error;
    }
  }
  double product = 0, power = 0, worst = 0, square = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double mean = sum[i] / kSeeds, deviation = std::sqrt((squares[i] / kSeeds - mean * mean) / kSeeds);
    product += (values[i] + mean) * values[i];
    power += double{values[i]} * values[i];
    worst = std::max(worst, std::abs(mean / deviation));
    square += mean / deviation * (mean / deviation) / static_cast<double>(values.size());
  }
  return {product / power, worst, square};
}

TEST(Hadamard, NoBiasWithTenPercentOfPacketsLost) {
  for (const bool same : {false, true}) {
    for (const ElementType type : kTypes) {
      const Bias b = bias({type, 512 * element_bytes(type), 8 * element_bytes(type), 6}, same);
      EXPECT_NEAR(b.slope, 1, 0.001) << "without n / received it would be 0.9";
      EXPECT_LT(b.worst, 5) << "of 512 elements";
      EXPECT_NEAR(b.square, 1, 0.25);
    }
  }
}

double largest_error(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(double{a[i]} - b[i]));
  return largest;
}

TEST(Hadamard, ALostPacketIsSpread) {
  Prng prng(5);
  const HadamardShape s{ElementType::kF32, 1 << 20, 4096, 8};
  ASSERT_EQ(transform_of(s).block_elements(), 256u);
  const std::vector<float> values = normals(prng, s.message_bytes / 4);
  Bitmap received = all_of(transform_of(s));
  lose(received, 77);
  std::vector<float> plain = values;
  std::fill_n(plain.begin() + 77 * 1024, 1024, 0.0f);
  const double spread = largest_error(there_and_back(s, values, received, 9), values);
  const double lost = largest_error(plain, values);
  EXPECT_GT(lost, 2.5);
  EXPECT_LT(spread, lost / 8);
  RecordProperty("spread", std::to_string(spread));
  std::printf("largest error, one packet of 256 lost: %.2f deviations; without the transform %.2f\n", spread,
              lost);
}

TEST(Hadamard, OneLargeNumberSurvivesTheLossOfAnyPacket) {
  const HadamardShape s{ElementType::kBf16, 64 * 128, 128, 6};
  std::vector<float> values(64 * 64);
  values[1000] = 1024;
  for (uint64_t packet = 0; packet < 64; ++packet) {
    Bitmap received = all_of(transform_of(s));
    lose(received, packet);
    const auto back = there_and_back(s, values, received, packet);
    ASSERT_NEAR(back[1000], 1024, 8);
    ASSERT_LT(largest_error(back, values), 1024.0 / 50) << "about 1/63 goes to each of its block";
  }
}

TEST(Hadamard, WhatGotNothingIsZero) {
  Prng prng(6);
  const HadamardShape s{ElementType::kF32, 4096, 64, 6};
  const auto back = there_and_back(s, normals(prng, 1024), Bitmap(1, 0), 1, 16);
  EXPECT_EQ(back, std::vector<float>(1024, 0.0f));
}

TEST(Hadamard, RefusesNanAndInfinity) {
  Prng prng(7);
  for (const ElementType type : kTypes) {
    const uint32_t size = element_bytes(type);
    const HadamardShape s{type, 1001 * size, 16 * size, 8};
    const HadamardTransform t = transform_of(s);
    std::vector<uint8_t> sent(t.encoded_bytes());
    for (const float bad : {kNan, -kNan, kInfinity, -kInfinity}) {
      for (const size_t at : {0, 500, 1000}) {
        std::vector<float> values = normals(prng, 1001);
        values[at] = bad;
        const auto r = t.encode(bytes_of(type, values), sent, 1);
        ASSERT_FALSE(r.ok());
        EXPECT_NE(r.error().find("NaN or infinity"), std::string::npos) << r.error();
      }
    }
    EXPECT_TRUE(t.encode(bytes_of(type, normals(prng, 1001)), sent, 1).ok());
  }
}

TEST(Hadamard, RefusesWhatDoesNotFit) {
  for (const auto& [type, large] :
       {std::pair{ElementType::kF16, 60'000.0f}, {ElementType::kF32, 3e38f}, {ElementType::kBf16, 3e38f}}) {
    const uint32_t size = element_bytes(type);
    const HadamardTransform t = transform_of({type, 1024 * size, 16 * size, 6});
    std::vector<uint8_t> sent(t.encoded_bytes());
    std::vector<float> values(1024, large);
    const auto r = t.encode(bytes_of(type, values), sent, 1);
    ASSERT_FALSE(r.ok());
    EXPECT_NE(r.error().find("does not fit"), std::string::npos) << r.error();
    std::fill(values.begin() + 1, values.end(), 0.0f);
    EXPECT_TRUE(t.encode(bytes_of(type, values), sent, 1).ok()) << "one large number does";
  }
}

TEST(Hadamard, CutsOffWhatTheEstimateHasTooMuch) {
  Prng prng(8);
  const HadamardShape s{ElementType::kF16, 64 * 32, 32, 6};
  std::vector<float> values(1024);
  for (size_t i = 0; i < values.size(); i += 16) values[i] = i % 128 == 0 ? 65'504.0f : 0;
  const HadamardTransform t = transform_of(s);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    for (const float f : there_and_back(s, values, lossy(t, prng, 0.3), seed)) ASSERT_TRUE(std::isfinite(f));
  }
}

TEST(Hadamard, RefusesShapesThatCannotBe) {
  for (const HadamardShape& s : {HadamardShape{ElementType::kF32, 0, 4096, 8},
                                 {ElementType::kF32, 6, 4096, 8},
                                 {ElementType::kF16, 7, 4096, 8},
                                 {ElementType::kF32, 64, 30, 8},
                                 {ElementType::kBf16, 64, 0, 8},
                                 {ElementType::kF32, 64, 32, 11}}) {
    const auto r = HadamardTransform::make(s);
    ASSERT_FALSE(r.ok());
    EXPECT_FALSE(r.error().empty());
  }
}

}  // namespace
}  // namespace matchrdma::host
