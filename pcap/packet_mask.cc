#include "pcap/packet_mask.h"

#include <algorithm>
#include <array>
#include <vector>

#include "dataplane/wire/frame_builder.h"
#include "dataplane/wire/icrc.h"

namespace matchrdma {
namespace {

uint32_t icrc_without_ack_req(const Frame& f) {
  std::vector<uint8_t> copy(f.bytes().begin(), f.bytes().end());
  rewrite_ack_req(f, copy, false);
  return load_le32(copy.data() + f.icrc_offset());
}

}  // namespace

uint64_t masked_fingerprint(const Frame& f) {
  // Ethernet, tags, IP with options or extensions, UDP, BTH and extension headers.
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
  if (f.bth_offset() + 8u < n) head[f.bth_offset() + 8u] &= 0x7f;
  // A UDP checksum follows from the rest: only whether there is one is the packet's own.
  if (f.udp_checksum() != 0) head[f.udp_offset() + 6u] = head[f.udp_offset() + 7u] = 1;
  uint32_t crc = crc32(0, {head.data(), n});
  const uint32_t icrc = f.ack_req() ? icrc_without_ack_req(f) : load_le32(f.data() + f.icrc_offset());
  // Ethernet padding behind the ICRC belongs to the packet too.
  crc = crc32(crc, f.bytes().subspan(f.icrc_offset() + 4));
  return (uint64_t{icrc} << 32) | crc;
}

}  // namespace matchrdma
