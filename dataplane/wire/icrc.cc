#include "dataplane/wire/icrc.h"

#include <isa-l/crc.h>

#include <array>
#include <cstring>

namespace matchrdma {
namespace {

// Running CRC-32 of the eight 0xff bytes that stand for the missing LRH (IBA A17.3.3).
constexpr uint32_t kSeed = 0x2144df1c;
// IP, UDP and the first five bytes of the BTH are masked; the copy takes the whole BTH (12).
constexpr uint32_t kUdpBthBytes = 8 + 12;
constexpr uint32_t kMaxMaskedBytes = 40 + kMaxIpv6ExtBytes + kUdpBthBytes;
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

/// ICRC over `p`, laid out as `f` says.
uint32_t icrc_over(const Frame& f, const uint8_t* p) {
  std::array<uint8_t, kMaxMaskedBytes> head;
  const uint32_t l3 = f.l3_offset();
  const uint32_t rest = f.ext_offset();
  MRDMA_CHECK(rest - l3 <= head.size());
  std::memcpy(head.data(), p + l3, rest - l3);
  mask_variant_fields(f, head.data());
  const uint32_t crc = crc32_gzip_refl(kSeed, head.data(), rest - l3);
  return crc32_gzip_refl(crc, p + rest, f.icrc_offset() - rest);
}

}  // namespace

uint32_t compute_icrc(const Frame& f) { return icrc_over(f, f.data()); }

bool icrc_ok(const Frame& f) { return compute_icrc(f) == load_le32(f.data() + f.icrc_offset()); }

void write_icrc(const Frame& f, MutableBytes bytes) {
  MRDMA_CHECK(bytes.size() >= f.icrc_offset() + 4);
  store_le32(bytes.data() + f.icrc_offset(), icrc_over(f, bytes.data()));
}

uint32_t crc32(uint32_t seed, Bytes b) { return crc32_gzip_refl(seed, b.data(), b.size()); }

}  // namespace matchrdma
