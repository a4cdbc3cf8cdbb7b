#include "pcap/packet_mask.h"

#include <algorithm>
#include <array>

#include "dataplane/wire/icrc.h"

namespace matchrdma {

uint64_t masked_fingerprint(const Frame& f) {
  // Ethernet, tags, IP with options or extensions, UDP, BTH: what is longer than this is not masked further
  // down.
  std::array<uint8_t, 512> head;
  const size_t n = std::min<size_t>(f.payload_offset(), head.size());
  std::copy_n(f.data(), n, head.begin());
  uint8_t* l3 = head.data() + f.l3_offset();
  if (f.is_v4()) {
    l3[1] &= 0xfc;
    l3[8] = 0;
    l3[10] = l3[11] = 0;
  } else {
    l3[1] &= 0xcf;
    l3[7] = 0;
  }
  if (f.bth_offset() + 8 < n) head[f.bth_offset() + 8] &= 0x7f;
  uint32_t crc = crc32(0, {head.data(), n});
  crc = crc32(crc, f.bytes().subspan(n, f.icrc_offset() - n));
  // Ethernet padding behind the ICRC belongs to the packet too.
  crc = crc32(crc, f.bytes().subspan(f.icrc_offset() + 4));
  return (uint64_t{f.bytes().size()} << 32) | crc;
}

}  // namespace matchrdma
