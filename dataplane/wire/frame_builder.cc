#include "dataplane/wire/frame_builder.h"

#include <cstring>

#include "dataplane/wire/icrc.h"
#include "dataplane/wire/writer.h"

namespace matchrdma {
namespace {

constexpr uint32_t kBthBytes = 12, kIcrcBytes = 4;

uint32_t pad_of(const RoceSpec& r) { return static_cast<uint32_t>(-r.payload.size() & 3); }

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

/// RFC 1624 eqn. 3 for `n` bytes at `offset` of the checksummed data that were `before` and are `now`.
uint16_t adjusted(uint16_t checksum, uint32_t offset, const uint8_t* before, const uint8_t* now, uint32_t n) {
  uint32_t sum = static_cast<uint16_t>(~checksum);
  for (uint32_t i = 0; i < n; ++i) {
    const int shift = ((offset + i) & 1) == 0 ? 8 : 0;
    sum += static_cast<uint16_t>(~(uint32_t{before[i]} << shift));
    sum += uint32_t{now[i]} << shift;
  }
  return static_cast<uint16_t>(~fold_checksum(sum));
}

}  // namespace

uint32_t roce_frame_size(const L2L3& l, const RoceSpec& r) {
  return udp_payload_offset(l) + kBthBytes + opcode_info(r.opcode).ext_len +
         static_cast<uint32_t>(r.payload.size()) + pad_of(r) + kIcrcBytes;
}

void build_roce(const L2L3& l, const RoceSpec& r, MutableBytes out) {
  MRDMA_CHECK(out.size() == roce_frame_size(l, r));
  write_udp_headers(l, kRoceUdpPort, out);
  Writer w(out.subspan(udp_payload_offset(l)));
  write_bth(r, w);
  write_extension_headers(r, w);
  w.bytes(r.payload.data(), r.payload.size());
  w.zeros(pad_of(r) + kIcrcBytes);
  MRDMA_CHECK(w.left() == 0);
  const ParseResult built = parse_frame(out);
  MRDMA_CHECK(built.kind == ParseKind::kRoce);
  write_icrc(built.frame, out);
  if (l.udp_checksum) write_udp_checksum(l, out);
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
