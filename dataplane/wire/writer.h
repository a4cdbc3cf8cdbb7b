#pragma once
// Fills a buffer of known size with network-order fields.
#include <cstring>

#include "dataplane/base/bytes.h"

namespace matchrdma {

/// Appends big-endian fields; never writes past its end.
class Writer {
 public:
  explicit Writer(MutableBytes out) : p_(out.data()), left_(out.size()) {}
  void u8(uint8_t v) { *take(1) = v; }
  void u16(uint32_t v) { store_be16(take(2), static_cast<uint16_t>(v)); }
  void u24(uint32_t v) { store_be24(take(3), v); }
  void u32(uint32_t v) { store_be32(take(4), v); }
  void u64(uint64_t v) {
    u32(static_cast<uint32_t>(v >> 32));
    u32(static_cast<uint32_t>(v));
  }
  void bytes(const uint8_t* from, size_t n) {
    if (n != 0) std::memcpy(take(n), from, n);
  }
  void zeros(size_t n) {
    if (n != 0) std::memset(take(n), 0, n);
  }
  size_t left() const { return left_; }

 private:
  uint8_t* take(size_t n) {
    MRDMA_CHECK(n <= left_);
    uint8_t* at = p_;
    p_ += n;
    left_ -= n;
    return at;
  }
  uint8_t* p_;
  size_t left_;
};

}  // namespace matchrdma
