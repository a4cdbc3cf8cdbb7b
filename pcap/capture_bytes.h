#pragma once
// Captures put together by hand, byte by byte, in either byte order: for tests of the reader.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace matchrdma::test {

/// Appends integers in one byte order.
class CaptureBytes {
 public:
  explicit CaptureBytes(bool big) : big_(big) {}

  CaptureBytes& u16(uint16_t v) { return integer(v, 2); }
  CaptureBytes& u32(uint32_t v) { return integer(v, 4); }
  CaptureBytes& u64(uint64_t v) { return integer(v, 8); }
  CaptureBytes& raw(const std::vector<uint8_t>& b) {
    bytes.insert(bytes.end(), b.begin(), b.end());
    return *this;
  }
  CaptureBytes& padded(const std::vector<uint8_t>& b) {
    raw(b);
    while (bytes.size() % 4 != 0) bytes.push_back(0);
    return *this;
  }

  // Classic pcap.
  CaptureBytes& file_header(uint32_t magic, uint32_t link_type = 1) {
    return u32(magic).u16(2).u16(4).u32(0).u32(0).u32(65535).u32(link_type);
  }
  CaptureBytes& record(uint32_t seconds, uint32_t fraction, const std::vector<uint8_t>& data) {
    const auto n = static_cast<uint32_t>(data.size());
    return u32(seconds).u32(fraction).u32(n).u32(n).raw(data);
  }

  // pcapng. `body` must be a multiple of 4 bytes.
  CaptureBytes& block(uint32_t type, const std::vector<uint8_t>& body) {
    const auto length = static_cast<uint32_t>(body.size() + 12);
    return u32(type).u32(length).raw(body).u32(length);
  }
  CaptureBytes& section(uint16_t major = 1) {
    return block(0x0a0d0d0a, fresh().u32(0x1a2b3c4d).u16(major).u16(0).u64(~uint64_t{0}).bytes);
  }
  CaptureBytes& interface(const std::vector<uint8_t>& options = {}, uint32_t snap = 0, uint16_t link = 1) {
    return block(1, fresh().u16(link).u16(0).u32(snap).raw(options).bytes);
  }
  CaptureBytes& enhanced(uint32_t id, uint64_t ticks, const std::vector<uint8_t>& data,
                         const std::vector<uint8_t>& options = {}) {
    const auto n = static_cast<uint32_t>(data.size());
    CaptureBytes body = fresh();
    body.u32(id).u32(static_cast<uint32_t>(ticks >> 32)).u32(static_cast<uint32_t>(ticks)).u32(n).u32(n);
    return block(6, body.padded(data).raw(options).bytes);
  }
  CaptureBytes& simple(uint32_t original, const std::vector<uint8_t>& data) {
    return block(3, fresh().u32(original).padded(data).bytes);
  }
  /// One option, padded.
  std::vector<uint8_t> option(uint16_t code, const std::vector<uint8_t>& value) const {
    return fresh().u16(code).u16(static_cast<uint16_t>(value.size())).padded(value).bytes;
  }
  std::vector<uint8_t> resolution(uint8_t value) const { return option(9, {value}); }
  std::vector<uint8_t> offset(int64_t seconds) const {
    return option(14, fresh().u64(static_cast<uint64_t>(seconds)).bytes);
  }

  CaptureBytes fresh() const { return CaptureBytes(big_); }

  std::vector<uint8_t> bytes;

 private:
  CaptureBytes& integer(uint64_t v, int size) {
    for (int i = 0; i < size; ++i) {
      const int shift = 8 * (big_ ? size - 1 - i : i);
      bytes.push_back(static_cast<uint8_t>(v >> shift));
    }
    return *this;
  }

  bool big_;
};

inline std::vector<uint8_t> operator+(std::vector<uint8_t> a, const std::vector<uint8_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace matchrdma::test
