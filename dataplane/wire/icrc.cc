#include "dataplane/wire/icrc.h"

#include <isa-l/crc.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace matchrdma {
namespace {

// Running CRC-32 of the eight 0xff bytes that stand for the missing LRH (IBA A17.3.3).
constexpr uint32_t kSeed = 0x2144df1c;
// IP, UDP and the first five bytes of the BTH are masked; the copy takes all headers. The longest extension
// header is the AtomicETH.
constexpr uint32_t kUdpBthBytes = 8 + 12;
constexpr uint32_t kMaxExtBytes = 64;
constexpr uint32_t kMaxMaskedBytes = 40 + kMaxIpv6ExtBytes + kUdpBthBytes + kMaxExtBytes;
static_assert(kMaxMaskedBytes >= 60 + kUdpBthBytes, "IPv4 with options is shorter than IPv6");

/// Sets what routers and switches may change to ones (IBA A17.3.3, 7.8.1).
void mask_variant_fields(const Frame& f, uint8_t* ip) {
  if (f.is_v4()) {
    ip[1] = 0xff;            // ToS
    ip[8] = 0xff;            // TTL
    ip[10] = ip[11] = 0xff;  // header checksum
  } else {
    ip[0] |= 0x0f;  // traffic class, flow label
    ip[1] = ip[2] = ip[3] = 0xff;
    ip[7] = 0xff;  // hop limit
  }
  uint8_t* udp = ip + (f.udp_offset() - f.l3_offset());
  udp[6] = udp[7] = 0xff;  // checksum
  udp[8 + 4] = 0xff;       // BTH: FECN, BECN, reserved
}

/// CRC over `p`, laid out as `f` says, up to `end`, which stands behind what is masked and not in the payload.
uint32_t crc_to(const Frame& f, const uint8_t* p, uint32_t end) {
  std::array<uint8_t, kMaxMaskedBytes> head;
  const uint32_t l3 = f.l3_offset();
  const uint32_t bytes = end - l3;
  MRDMA_CHECK(bytes <= head.size());
  std::memcpy(head.data(), p + l3, bytes);
  mask_variant_fields(f, head.data());
  return crc32_gzip_refl(kSeed, head.data(), bytes);
}

/// The same over the payload, where `crc` is what comes before it: the ICRC.
uint32_t crc_over_payload(const Frame& f, const uint8_t* p, uint32_t crc) {
  return crc32_gzip_refl(crc, p + f.payload_offset(), f.icrc_offset() - f.payload_offset());
}

uint32_t icrc_over(const Frame& f, const uint8_t* p) {
  return crc_over_payload(f, p, crc_to(f, p, f.payload_offset()));
}

uint32_t carried_icrc(const Frame& f) { return load_le32(f.data() + f.icrc_offset()); }

// CRCs are linear: what a difference before `bytes` more bytes makes of the result.
uint32_t carried_over(uint32_t difference, size_t bytes) {
  static constexpr std::array<uint8_t, 4096> kZeros{};
  uint32_t with = difference, without = 0;
  for (size_t n = 0; bytes > 0; bytes -= n) {
    n = std::min(bytes, kZeros.size());
    with = crc32(with, Bytes(kZeros).first(n));
    without = crc32(without, Bytes(kZeros).first(n));
  }
  return with ^ without;
}

}  // namespace

uint32_t compute_icrc(const Frame& f) { return icrc_over(f, f.data()); }

bool icrc_ok(const Frame& f) { return compute_icrc(f) == carried_icrc(f); }

bool check_icrc(Frame& f) {
  f.crc_before_payload_ = crc_to(f, f.data(), f.payload_offset());
  f.icrc_checked_ = crc_over_payload(f, f.data(), f.crc_before_payload_) == carried_icrc(f);
  return f.icrc_checked_;
}

uint32_t crc_of_headers(const Frame& f, uint32_t end) {
  MRDMA_CHECK(end > f.bth_offset() + 4 && end <= f.payload_offset());
  return crc_to(f, f.data(), end);
}

void write_icrc(const Frame& f, MutableBytes bytes) {
  MRDMA_CHECK(bytes.size() >= f.icrc_offset() + 4);
  store_le32(bytes.data() + f.icrc_offset(), icrc_over(f, bytes.data()));
}

uint32_t crc32(uint32_t seed, Bytes b) { return crc32_gzip_refl(seed, b.data(), b.size()); }

PayloadPrint payload_print(const Frame& f) {
  if (f.icrc_checked()) return {carried_icrc(f), f.crc_before_payload()};
  return {crc32(0, f.payload()), 0};
}

bool same_payload(PayloadPrint a, PayloadPrint b, size_t bytes) {
  if (a.head == b.head) return a.whole == b.whole;
  return (a.whole ^ b.whole) == carried_over(a.head ^ b.head, bytes);
}

}  // namespace matchrdma
