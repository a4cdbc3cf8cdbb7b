#include "host/code/hadamard.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "dataplane/base/prng.h"
#include "host/code/small_float.h"

namespace matchrdma::host {
namespace {

struct F32 {
  using Raw = uint32_t;
  static constexpr float kLargest = std::numeric_limits<float>::max();
  static constexpr Raw kExponent = 0x7f800000;
  static float read(Raw r) { return std::bit_cast<float>(r); }
  static Raw write(float f) { return std::bit_cast<Raw>(f); }
};
struct Bf16 {
  using Raw = uint16_t;
  static constexpr float kLargest = 0x1.fep127f;
  static constexpr Raw kExponent = 0x7f80;
  static float read(Raw r) { return from_bf16(r); }
  static Raw write(float f) { return to_bf16(f); }
};
struct F16 {
  using Raw = uint16_t;
  static constexpr float kLargest = 65504;
  static constexpr Raw kExponent = 0x7c00;
  static float read(Raw r) { return from_f16(r); }
  static Raw write(float f) { return to_f16(f); }
};

template <class Codec>
bool finite(typename Codec::Raw r) {
  return (r & Codec::kExponent) != Codec::kExponent;
}

template <class Raw>
Raw load(const uint8_t* p, uint64_t i) {
  Raw r;
  std::memcpy(&r, p + i * sizeof r, sizeof r);
  return r;
}
template <class Raw>
void store(uint8_t* p, uint64_t i, Raw r) {
  std::memcpy(p + i * sizeof r, &r, sizeof r);
}

/// So many blocks are transformed side by side: their elements of equal index stand together in what is sent,
/// and the compiler makes vectors of them.
constexpr uint32_t kLanes = 16;
using Row = std::array<float, kLanes>;

/// All lanes at once: rows become sums of +- rows, without a scale. Twice is the identity times the number of
/// rows.
void transform(std::span<Row> rows) {
  for (size_t half = 1; half < rows.size(); half *= 2) {
    for (size_t i = 0; i < rows.size(); i += 2 * half) {
      for (size_t j = i; j < i + half; ++j) {
        Row& a = rows[j];
        Row& b = rows[j + half];
        for (uint32_t lane = 0; lane < kLanes; ++lane) {
          const float x = a[lane], y = b[lane];
          a[lane] = x + y;
          b[lane] = x - y;
        }
      }
    }
  }
}

/// Duty: the random signs of one block, element by element. Both ends draw the same.
class Signs {
 public:
  Signs(uint64_t seed, uint64_t block) : prng_(Prng(seed).next() + block) {}
  /// +-scale
  float next(float scale) {
    if (left_ == 0) {
      bits_ = prng_.next();
      left_ = 64;
    }
    const auto u = std::bit_cast<uint32_t>(scale) ^ (static_cast<uint32_t>(bits_ & 1) << 31);
    bits_ >>= 1;
    --left_;
    return std::bit_cast<float>(u);
  }

 private:
  Prng prng_;
  uint64_t bits_ = 0;
  int left_ = 0;
};

uint32_t lanes_from(uint64_t block, uint64_t end) {
  return static_cast<uint32_t>(std::min<uint64_t>(kLanes, end - block));
}

float root(uint32_t elements) { return std::sqrt(static_cast<float>(elements)); }

/// Of sums of 2^kMaxBlockBits floats, and of the type itself, with room.
constexpr double kRounding = 0.01;

/// Into the range of the type; NaN, the difference of two infinities, too.
float bounded(float f, float largest) { return f >= largest ? largest : f > -largest ? f : -largest; }

}  // namespace

Result<HadamardTransform> HadamardTransform::make(const HadamardShape& s) {
  const uint32_t size = element_bytes(s.type);
  if (s.message_bytes == 0 || s.message_bytes % size != 0 || s.packet_bytes == 0 ||
      s.packet_bytes % size != 0) {
    return Error{"a message of " + std::to_string(s.message_bytes) + " bytes in packets of " +
                 std::to_string(s.packet_bytes) + ": both must be multiples of the element's " +
                 std::to_string(size) + " bytes; send it without the transform"};
  }
  if (s.max_block_bits > kMaxBlockBits) {
    return Error{"blocks of 2^" + std::to_string(s.max_block_bits) + " elements: choose 2^" +
                 std::to_string(kMaxBlockBits) + " at most"};
  }
  const uint64_t full_packets = std::max<uint64_t>(1, s.message_bytes / s.packet_bytes);
  const auto bits = static_cast<uint32_t>(std::bit_width(full_packets) - 1);
  return HadamardTransform(s, std::min(bits, s.max_block_bits));
}

HadamardTransform::HadamardTransform(const HadamardShape& s, uint32_t block_bits)
    : shape_(s),
      block_(1u << block_bits),
      elements_(s.message_bytes / element_bytes(s.type)),
      blocks_((elements_ + block_ - 1) / block_),
      packet_elements_(s.packet_bytes / element_bytes(s.type)) {}

HadamardTransform::Batch HadamardTransform::batch_of(uint64_t block) const {
  const uint64_t last = std::max<uint64_t>(1, blocks_ / packet_elements_) - 1;
  const uint64_t batch = std::min(block / packet_elements_, last);
  const uint64_t first = batch * packet_elements_;
  return {first, batch == last ? blocks_ - first : packet_elements_};
}

uint64_t HadamardTransform::sent_as(uint64_t b, uint32_t i) const {
  const Batch batch = batch_of(b);
  return batch.first * block_ + i * batch.blocks + (b - batch.first);
}

Error HadamardTransform::refusal(uint64_t block, const std::string& before, const std::string& after) const {
  const uint64_t from = block * block_;
  return Error{before + " elements " + std::to_string(from) + " to " +
               std::to_string(std::min(from + block_, elements_) - 1) + after +
               "; send the message without the transform"};
}

Result<void> HadamardTransform::check(Bytes message) const {
  MRDMA_CHECK(message.size() == shape_.message_bytes);
  switch (shape_.type) {
    case ElementType::kF32:
      return check_as<F32>(message);
    case ElementType::kBf16:
      return check_as<Bf16>(message);
    case ElementType::kF16:
      return check_as<F16>(message);
  }
  return Error{"no such element type"};
}

// Whatever the signs, no number of the transform is larger than the sum of all over the root of how many.
template <class Codec>
Result<void> HadamardTransform::check_as(Bytes message) const {
  using Raw = typename Codec::Raw;
  const double most = static_cast<double>(Codec::kLargest) * root(block_) * (1 - kRounding);
  for (uint64_t block = 0; block < blocks_; ++block) {
    const uint64_t end = std::min((block + 1) * block_, elements_);
    double sum = 0;
    bool all_finite = true;
    for (uint64_t i = block * block_; i < end; ++i) {
      const Raw r = load<Raw>(message.data(), i);
      all_finite = all_finite && finite<Codec>(r);
      sum += std::fabs(static_cast<double>(Codec::read(r)));
    }
    if (!all_finite)
      return refusal(block, "NaN or infinity among", ": the transform would spread it over all of them");
    if (block_ > 1 && sum > most) return refusal(block, "the transform of", " may not fit in their type");
  }
  return {};
}

Result<void> HadamardTransform::encode(Bytes message, MutableBytes sent, uint64_t seed) const {
  MRDMA_CHECK(message.size() == shape_.message_bytes && sent.size() == encoded_bytes());
  switch (shape_.type) {
    case ElementType::kF32:
      return encode_as<F32>(message, sent, seed);
    case ElementType::kBf16:
      return encode_as<Bf16>(message, sent, seed);
    case ElementType::kF16:
      return encode_as<F16>(message, sent, seed);
  }
  return Error{"no such element type"};
}

template <class Codec>
Result<void> HadamardTransform::encode_as(Bytes message, MutableBytes sent, uint64_t seed) const {
  using Raw = typename Codec::Raw;
  std::vector<Row> rows(block_);
  const float scale = 1 / root(block_);
  uint32_t lanes = 0;
  for (uint64_t block = 0; block < blocks_; block += lanes) {
    const Batch batch = batch_of(block);
    lanes = lanes_from(block, batch.first + batch.blocks);
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      Signs signs(seed, block + lane);
      const uint64_t from = (block + lane) * block_;
      bool all_finite = true;
      for (uint32_t i = 0; i < block_; ++i) {
        const Raw r = from + i < elements_ ? load<Raw>(message.data(), from + i) : Raw{0};
        all_finite = all_finite && finite<Codec>(r);
        rows[i][lane] = Codec::read(r) * signs.next(scale);
      }
      if (!all_finite) {
        return refusal(block + lane, "NaN or infinity among",
                       ": the transform would spread it over all of them");
      }
    }
    transform(rows);
    for (uint32_t i = 0; i < block_; ++i) {
      const uint64_t to = sent_as(block, i);
      for (uint32_t lane = 0; lane < lanes; ++lane) {
        const float f = rows[i][lane];
        const Raw r = std::isfinite(f) ? Codec::write(f) : Codec::kExponent;
        if (!finite<Codec>(r)) {
          return refusal(block + lane, "the transform of", " does not fit in their type");
        }
        store<Raw>(sent.data(), to + lane, r);
      }
    }
  }
  return {};
}

uint64_t HadamardTransform::decode(Bytes sent, std::span<const uint64_t> received, uint64_t seed,
                                   MutableBytes message) const {
  MRDMA_CHECK(message.size() == shape_.message_bytes && sent.size() == encoded_bytes());
  MRDMA_CHECK(received.size() * 64 >= packets());
  switch (shape_.type) {
    case ElementType::kF32:
      return decode_as<F32>(sent, received, seed, message);
    case ElementType::kBf16:
      return decode_as<Bf16>(sent, received, seed, message);
    case ElementType::kF16:
      return decode_as<F16>(sent, received, seed, message);
  }
  return blocks_;
}

template <class Codec>
uint64_t HadamardTransform::decode_as(Bytes sent, std::span<const uint64_t> received, uint64_t seed,
                                      MutableBytes message) const {
  using Raw = typename Codec::Raw;
  std::vector<Row> rows(block_);
  uint64_t nothing = 0;
  uint32_t lanes = 0;
  for (uint64_t block = 0; block < blocks_; block += lanes) {
    const Batch batch = batch_of(block);
    lanes = lanes_from(block, batch.first + batch.blocks);
    std::array<uint32_t, kLanes> came{};
    for (uint32_t i = 0; i < block_; ++i) {
      const uint64_t at = sent_as(block, i);
      rows[i] = {};
      for (uint32_t lane = 0, end = 0; lane < lanes; lane = end) {
        const uint64_t packet = (at + lane) / packet_elements_;
        end = static_cast<uint32_t>(std::min<uint64_t>(lanes, (packet + 1) * packet_elements_ - at));
        if ((received[packet / 64] >> (packet % 64) & 1) == 0) continue;
        for (uint32_t l = lane; l < end; ++l) {
          rows[i][l] = Codec::read(load<Raw>(sent.data(), at + l));
          ++came[l];
        }
      }
    }
    transform(rows);
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      nothing += came[lane] == 0 ? 1 : 0;
      // 1 / sqrt(n) belongs to the transform; n / received makes up for what is missing.
      const float scale = came[lane] == 0 ? 0 : root(block_) / static_cast<float>(came[lane]);
      Signs signs(seed, block + lane);
      const uint64_t to = (block + lane) * block_;
      const auto here = static_cast<uint32_t>(std::min<uint64_t>(block_, elements_ - to));
      for (uint32_t i = 0; i < here; ++i) {
        const float f = rows[i][lane] * signs.next(scale);
        store<Raw>(message.data(), to + i, Codec::write(bounded(f, Codec::kLargest)));
      }
    }
  }
  return nothing;
}

}  // namespace matchrdma::host
