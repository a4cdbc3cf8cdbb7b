#pragma once
// Two archives with the same verbs. A layout is written once, as a function of an archive and a value: run by
// the Encoder it writes, run by the Decoder it reads, so the two cannot disagree. Everything is big-endian.
#include <array>
#include <cstring>
#include <type_traits>

#include "dataplane/base/bytes.h"

namespace matchrdma {

/// Writes values. Knows nothing of what they mean; a rule that is broken or a lack of room is remembered in
/// ok().
class Encoder {
 public:
  static constexpr bool kWrites = true;
  explicit Encoder(MutableBytes out) : out_(out) {}

  void u8(uint8_t v) {
    if (uint8_t* p = take(1)) *p = v;
  }
  void u16(uint16_t v) {
    if (uint8_t* p = take(2)) store_be16(p, v);
  }
  void u24(uint32_t v) {
    require(v <= 0xffffff);
    if (uint8_t* p = take(3)) store_be24(p, v);
  }
  void u32(uint32_t v) {
    if (uint8_t* p = take(4)) store_be32(p, v);
  }
  void u64(uint64_t v) {
    u32(static_cast<uint32_t>(v >> 32));
    u32(static_cast<uint32_t>(v));
  }
  void i64(int64_t v) { u64(static_cast<uint64_t>(v)); }
  template <size_t N>
  void bytes(const std::array<uint8_t, N>& from) {
    raw(from.data(), N);
  }
  void raw(const uint8_t* from, size_t n) {
    uint8_t* p = take(n);
    if (p != nullptr && n != 0) std::memcpy(p, from, n);  // `from` may be null where there is nothing
  }

  void require(bool rule) { ok_ = ok_ && rule; }
  bool ok() const { return ok_; }
  size_t size() const { return at_; }

 private:
  uint8_t* take(size_t n) {
    require(n <= out_.size() - at_);
    if (!ok_) return nullptr;
    at_ += n;
    return out_.data() + at_ - n;
  }
  MutableBytes out_;
  size_t at_ = 0;
  bool ok_ = true;
};

/// Reads values; never past the end. After the first broken rule nothing more is read and ok() is false.
class Decoder {
 public:
  static constexpr bool kWrites = false;
  explicit Decoder(Bytes in) : in_(in) {}

  void u8(uint8_t& v) {
    if (const uint8_t* p = take(1)) v = *p;
  }
  void u16(uint16_t& v) {
    if (const uint8_t* p = take(2)) v = load_be16(p);
  }
  void u24(uint32_t& v) {
    if (const uint8_t* p = take(3)) v = load_be24(p);
  }
  void u32(uint32_t& v) {
    if (const uint8_t* p = take(4)) v = load_be32(p);
  }
  void u64(uint64_t& v) {
    if (const uint8_t* p = take(8)) v = load_be64(p);
  }
  void i64(int64_t& v) {
    if (const uint8_t* p = take(8)) v = static_cast<int64_t>(load_be64(p));
  }
  template <size_t N>
  void bytes(std::array<uint8_t, N>& to) {
    if (const uint8_t* p = take(N)) std::memcpy(to.data(), p, N);
  }

  void require(bool rule) { ok_ = ok_ && rule; }
  bool ok() const { return ok_; }
  /// Everything was understood and nothing is left over.
  bool complete() const { return ok_ && at_ == in_.size(); }

 private:
  const uint8_t* take(size_t n) {
    require(n <= in_.size() - at_);
    if (!ok_) return nullptr;
    at_ += n;
    return in_.data() + at_ - n;
  }
  Bytes in_;
  size_t at_ = 0;
  bool ok_ = true;
};

/// What a layout function takes: the Encoder sees a const value, the Decoder fills it.
template <class Archive, class T>
using In = std::conditional_t<Archive::kWrites, const T, T>;

}  // namespace matchrdma
