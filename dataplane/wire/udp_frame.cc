#include "dataplane/wire/udp_frame.h"

#include "dataplane/wire/writer.h"

namespace matchrdma {
namespace {

constexpr uint8_t kAnswerHopLimit = 64;
constexpr uint16_t kDontFragment = 0x4000;

uint32_t ip_header_size(const L2L3& l) { return is_v4(l) ? 20 : 40; }

void write_ethernet(const L2L3& l, Writer& w) {
  w.bytes(l.mac_dst.data(), 6);
  w.bytes(l.mac_src.data(), 6);
  for (size_t i = 0; i < static_cast<size_t>(l.vlan_tags); ++i) {
    w.u16(l.vlan_tpid[i]);
    w.u16(l.vlan_tci[i]);
  }
  w.u16(is_v4(l) ? 0x0800 : 0x86dd);
}

void write_ip(const L2L3& l, uint32_t udp_size, Writer& w) {
  if (is_v4(l)) {
    w.u8(0x45);
    w.u8(l.traffic_class);
    w.u16(20 + udp_size);
    w.u16(0);
    w.u16(kDontFragment);
    w.u8(l.hop_limit);
    w.u8(17);
    w.u16(0);  // checksum: when the header stands
    w.bytes(l.src.b.data() + 12, 4);
    w.bytes(l.dst.b.data() + 12, 4);
    return;
  }
  w.u32((6u << 28) | (uint32_t{l.traffic_class} << 20) | (l.flow_label & 0xfffff));
  w.u16(udp_size);
  w.u8(17);
  w.u8(l.hop_limit);
  w.bytes(l.src.b.data(), 16);
  w.bytes(l.dst.b.data(), 16);
}

}  // namespace

bool is_v4(const L2L3& l) {
  MRDMA_CHECK(l.src.is_v4() == l.dst.is_v4());
  return l.src.is_v4();
}
uint32_t l3_offset(const L2L3& l) {
  MRDMA_CHECK(l.vlan_tags >= 0 && l.vlan_tags <= 2);
  return 14 + 4 * static_cast<uint32_t>(l.vlan_tags);
}

uint32_t udp_payload_offset(const L2L3& l) { return l3_offset(l) + ip_header_size(l) + kUdpBytes; }

uint32_t sum16(uint32_t sum, const uint8_t* p, size_t n) {
  for (; n >= 2; p += 2, n -= 2) sum += load_be16(p);
  return n == 0 ? sum : sum + (uint32_t{*p} << 8);
}

uint16_t fold_checksum(uint32_t sum) {
  while ((sum >> 16) != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(sum);
}

L2L3 L2L3::from(const Frame& f, bool reversed) {
  L2L3 l;
  std::memcpy(l.mac_dst.data(), f.data() + (reversed ? 6 : 0), 6);
  std::memcpy(l.mac_src.data(), f.data() + (reversed ? 0 : 6), 6);
  l.vlan_tags = f.vlan_tags();
  for (int i = 0; i < l.vlan_tags; ++i) {
    l.vlan_tpid[static_cast<size_t>(i)] = load_be16(f.data() + 12 + 4 * i);
    l.vlan_tci[static_cast<size_t>(i)] = f.vlan_tci(i);
  }
  l.src = reversed ? f.destination() : f.source();
  l.dst = reversed ? f.source() : f.destination();
  l.traffic_class = f.traffic_class();
  l.hop_limit = f.hop_limit();
  if (reversed) {
    l.hop_limit = kAnswerHopLimit;
    // No queue marked the answer: it starts as ECT(0), not as CE.
    if (f.ecn() == kCe) l.traffic_class = static_cast<uint8_t>((l.traffic_class & ~kEcnMask) | kEct0);
  }
  l.flow_label = f.flow_label();
  l.udp_source_port = f.udp_source_port();
  l.udp_checksum = f.udp_checksum() != 0;
  return l;
}

void write_udp_headers(const L2L3& l, uint16_t destination_port, MutableBytes frame) {
  const uint32_t l3 = l3_offset(l);
  MRDMA_CHECK(frame.size() - l3 <= 0xffff);
  const uint32_t udp_size = static_cast<uint32_t>(frame.size()) - udp_payload_offset(l) + kUdpBytes;
  Writer w(frame);
  write_ethernet(l, w);
  write_ip(l, udp_size, w);
  w.u16(l.udp_source_port);
  w.u16(destination_port);
  w.u16(udp_size);
  w.u16(0);
  if (!is_v4(l)) return;
  uint8_t* ip = frame.data() + l3;
  store_be16(ip + 10, static_cast<uint16_t>(~fold_checksum(sum16(0, ip, 20))));
}

uint32_t udp_checksum_sum(const L2L3& l, Bytes frame) {
  const Bytes datagram = frame.subspan(udp_payload_offset(l) - kUdpBytes);
  const size_t skip = is_v4(l) ? 12 : 0;
  uint32_t sum = 17 + static_cast<uint32_t>(datagram.size());
  sum = sum16(sum, l.src.b.data() + skip, 16 - skip);
  sum = sum16(sum, l.dst.b.data() + skip, 16 - skip);
  return sum16(sum, datagram.data(), datagram.size());
}

void write_udp_checksum(const L2L3& l, MutableBytes frame) {
  const uint32_t sum = udp_checksum_sum(l, frame);
  store_be16(frame.data() + udp_payload_offset(l) - 2, udp_form(static_cast<uint16_t>(~fold_checksum(sum))));
}

}  // namespace matchrdma
