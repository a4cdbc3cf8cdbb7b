#include "dataplane/wire/frame_builder.h"

#include <cstring>

#include "dataplane/wire/icrc.h"

namespace matchrdma {
namespace {

constexpr uint32_t kUdpBytes = 8, kBthBytes = 12, kIcrcBytes = 4;
constexpr uint8_t kEcnMask = 3, kEct0 = 2, kCe = 3;  // RFC 3168 5
constexpr uint8_t kAnswerHopLimit = 64;
constexpr uint16_t kDontFragment = 0x4000;

bool is_v4(const L2L3& l) {
  MRDMA_CHECK(l.src.is_v4() == l.dst.is_v4());
  return l.src.is_v4();
}
uint32_t l3_offset(const L2L3& l) {
  MRDMA_CHECK(l.vlan_tags >= 0 && l.vlan_tags <= 2);
  return 14 + 4 * static_cast<uint32_t>(l.vlan_tags);
}
uint32_t ip_header_size(const L2L3& l) { return is_v4(l) ? 20 : 40; }
uint32_t pad_of(const RoceSpec& r) { return static_cast<uint32_t>(-r.payload.size() & 3); }

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

uint32_t sum16(uint32_t sum, const uint8_t* p, size_t n) {
  for (; n >= 2; p += 2, n -= 2) sum += load_be16(p);
  return n == 0 ? sum : sum + (uint32_t{*p} << 8);
}
uint16_t fold(uint32_t sum) {
  while ((sum >> 16) != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(sum);
}
/// RFC 768: a computed checksum of 0 is sent as ones, since 0 says "none".
uint16_t udp_form(uint16_t checksum) { return checksum == 0 ? uint16_t{0xffff} : checksum; }

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

/// IBA 9.2; transport version 0.
void write_bth(const RoceSpec& r, Writer& w) {
  w.u8(r.opcode);
  w.u8(static_cast<uint8_t>((r.solicited ? 0x80 : 0) | (r.mig_req ? 0x40 : 0) | (pad_of(r) << 4)));
  w.u16(r.pkey);
  w.u8(static_cast<uint8_t>((r.fecn ? 0x80 : 0) | (r.becn ? 0x40 : 0)));
  w.u24(r.dest_qp.v);
  w.u8(r.ack_req ? 0x80 : 0);
  w.u24(r.psn.v);
}

/// IBA 9.3: no opcode has two of them in another order than this one.
void write_extension_headers(const RoceSpec& r, Writer& w) {
  const OpcodeInfo& o = opcode_info(r.opcode);
  if (o.deth) {
    w.u32(r.qkey);
    w.u8(0);
    w.u24(r.source_qp.v);
  }
  if (o.feth) w.u32(r.feth);
  if (o.reth || o.atomic_eth) {
    w.u64(r.va);
    w.u32(r.rkey);
  }
  if (o.reth) w.u32(r.dma_length);
  if (o.atomic_eth) {
    w.u64(r.swap_add);
    w.u64(r.compare);
  }
  if (o.aeth) {
    w.u8(r.syndrome);
    w.u24(r.msn.v);
  }
  if (o.atomic_ack_eth) w.u64(r.atomic_original);
  if (o.imm) w.u32(r.imm);
  if (o.ieth) w.u32(r.ieth_rkey);
}

void write_ip_checksum(uint8_t* ip) { store_be16(ip + 10, static_cast<uint16_t>(~fold(sum16(0, ip, 20)))); }

/// RFC 768 and RFC 8200 8.1: over the pseudo header, the UDP header and what follows, the ICRC included.
void write_udp_checksum(const L2L3& l, MutableBytes datagram) {
  const size_t skip = is_v4(l) ? 12 : 0;
  uint32_t sum = 17 + static_cast<uint32_t>(datagram.size());
  sum = sum16(sum, l.src.b.data() + skip, 16 - skip);
  sum = sum16(sum, l.dst.b.data() + skip, 16 - skip);
  sum = sum16(sum, datagram.data(), datagram.size());
  store_be16(datagram.data() + 6, udp_form(static_cast<uint16_t>(~fold(sum))));
}

/// RFC 1624 eqn. 3 for `n` bytes at `offset` of the checksummed data that were `before` and are `now`.
uint16_t adjusted(uint16_t checksum, uint32_t offset, const uint8_t* before, const uint8_t* now, uint32_t n) {
  uint32_t sum = static_cast<uint16_t>(~checksum);
  for (uint32_t i = 0; i < n; ++i) {
    const int shift = ((offset + i) & 1) == 0 ? 8 : 0;
    sum += static_cast<uint16_t>(~(uint32_t{before[i]} << shift));
    sum += uint32_t{now[i]} << shift;
  }
  return static_cast<uint16_t>(~fold(sum));
}

}  // namespace

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

uint32_t roce_frame_size(const L2L3& l, const RoceSpec& r) {
  return l3_offset(l) + ip_header_size(l) + kUdpBytes + kBthBytes + opcode_info(r.opcode).ext_len +
         static_cast<uint32_t>(r.payload.size()) + pad_of(r) + kIcrcBytes;
}

void build_roce(const L2L3& l, const RoceSpec& r, MutableBytes out) {
  MRDMA_CHECK(out.size() == roce_frame_size(l, r));
  const uint32_t l3 = l3_offset(l);
  const uint32_t udp = l3 + ip_header_size(l);
  const uint32_t udp_size = static_cast<uint32_t>(out.size()) - udp;
  MRDMA_CHECK(out.size() - l3 <= 0xffff);
  Writer w(out);
  write_ethernet(l, w);
  write_ip(l, udp_size, w);
  w.u16(l.udp_source_port);
  w.u16(kRoceUdpPort);
  w.u16(udp_size);
  w.u16(0);
  write_bth(r, w);
  write_extension_headers(r, w);
  w.bytes(r.payload.data(), r.payload.size());
  w.zeros(pad_of(r) + kIcrcBytes);
  MRDMA_CHECK(w.left() == 0);
  if (is_v4(l)) write_ip_checksum(out.data() + l3);
  const ParseResult built = parse_frame(out);
  MRDMA_CHECK(built.kind == ParseKind::kRoce);
  write_icrc(built.frame, out);
  if (l.udp_checksum) write_udp_checksum(l, out.subspan(udp));
}

PacketRef build_roce(const L2L3& l, const RoceSpec& r, PacketPool& pool) {
  const uint32_t size = roce_frame_size(l, r);
  PacketRef packet = pool.alloc(size);
  if (packet) build_roce(l, r, MutableBytes{packet->data, size});
  return packet;
}

PacketRef build_cnp(const L2L3& l, Qpn sender_qp, PacketPool& pool) {
  static constexpr std::array<uint8_t, 16> kReserved{};
  RoceSpec r;
  r.opcode = op::kCnp;
  r.dest_qp = sender_qp;
  r.becn = true;
  r.mig_req = false;
  r.payload = kReserved;
  return build_roce(l, r, pool);
}

void rewrite_ack_req(const Frame& f, MutableBytes bytes, bool on) {
  MRDMA_CHECK(bytes.size() >= f.icrc_offset() + kIcrcBytes);
  uint8_t* flags = bytes.data() + f.bth_offset() + 8;
  uint8_t* icrc = bytes.data() + f.icrc_offset();
  const uint8_t old_flags = *flags;
  std::array<uint8_t, kIcrcBytes> old_icrc;
  std::memcpy(old_icrc.data(), icrc, kIcrcBytes);
  *flags = static_cast<uint8_t>(on ? old_flags | 0x80 : old_flags & 0x7f);
  write_icrc(f, bytes);
  uint8_t* checksum = bytes.data() + f.udp_offset() + 6;
  if (load_be16(checksum) == 0) return;  // none (RFC 768), as NICs send it
  uint16_t sum = load_be16(checksum);
  sum = adjusted(sum, kUdpBytes + 8, &old_flags, flags, 1);
  sum = adjusted(sum, f.icrc_offset() - f.udp_offset(), old_icrc.data(), icrc, kIcrcBytes);
  store_be16(checksum, udp_form(sum));
}

void rewrite_ecn(const Frame& f, MutableBytes bytes, uint8_t ecn) {
  MRDMA_CHECK(bytes.size() >= f.icrc_offset() + kIcrcBytes && ecn <= kEcnMask);
  uint8_t* ip = bytes.data() + f.l3_offset();
  if (!f.is_v4()) {
    ip[1] = static_cast<uint8_t>((ip[1] & ~(kEcnMask << 4)) | (ecn << 4));
    return;
  }
  const uint8_t old = ip[1];
  ip[1] = static_cast<uint8_t>((old & ~kEcnMask) | ecn);
  store_be16(ip + 10, adjusted(load_be16(ip + 10), 1, &old, ip + 1, 1));
}

}  // namespace matchrdma
