// Any bytes into the parser. If they are RoCE: every accessor, the ICRC, the rewrites on a copy, and an answer
// built from it; what must hold is checked, and reads outside the input are AddressSanitizer's to find.
#include <vector>

#include "dataplane/wire/frame.h"
#include "dataplane/wire/frame_builder.h"
#include "dataplane/wire/icrc.h"

namespace {

using namespace matchrdma;

uint64_t first_and_last(Bytes b) { return b.empty() ? 0 : uint64_t{b.front()} + b.back(); }

/// Reads through every accessor; the caller compares sums, so the loads stay.
uint64_t touch(const Frame& f) {
  uint64_t sum = f.opcode() + f.psn().v + f.dest_qp().v + f.pkey() + f.udp_source_port() + f.udp_checksum();
  sum += f.ack_req() + f.solicited() + f.mig_req() + f.becn() + f.fecn() + f.pad_count();
  sum += f.traffic_class() + f.ecn() + f.hop_limit() + f.flow_label() + f.vlan_id(0) + f.vlan_id(1);
  sum += f.source().b[0] + f.source().b[15] + f.destination().b[0] + f.destination().b[15];
  sum += first_and_last(f.bytes()) + first_and_last(f.payload()) + first_and_last(f.extension_headers());
  const OpcodeInfo& o = f.info();
  if (o.reth) sum += f.reth_va() + f.reth_rkey() + f.reth_length();
  if (o.aeth) sum += f.aeth_syndrome() + f.aeth_msn().v;
  if (o.deth) sum += f.deth_qkey() + f.deth_source_qp().v;
  if (o.atomic_eth) sum += f.atomic_va() + f.atomic_rkey() + f.atomic_swap_add() + f.atomic_compare();
  if (o.atomic_ack_eth) sum += f.atomic_original();
  if (o.imm) sum += f.imm();
  if (o.ieth) sum += f.ieth_rkey();
  if (o.feth) sum += f.feth();
  return sum;
}

void check_layout(const Frame& f, size_t size) {
  MRDMA_CHECK(f.bytes().size() == size);
  MRDMA_CHECK(14 <= f.l3_offset() && f.l3_offset() + 20 <= f.udp_offset());
  MRDMA_CHECK(f.udp_offset() + 8 == f.bth_offset() && f.bth_offset() + 12 == f.ext_offset());
  MRDMA_CHECK(f.ext_offset() + f.info().ext_len == f.payload_offset());
  MRDMA_CHECK(f.payload_offset() + f.payload_length() + f.pad_count() == f.icrc_offset());
  MRDMA_CHECK(f.icrc_offset() + 4 <= size);
  MRDMA_CHECK(f.vlan_tags() >= 0 && f.vlan_tags() <= 2);
}

Frame parse_again(const std::vector<uint8_t>& b) {
  const ParseResult r = parse_frame(b);
  MRDMA_CHECK(r.kind == ParseKind::kRoce);
  return r.frame;
}

/// Ones' complement sum of the IPv4 header: 0xffff where its checksum is right.
uint32_t ip_sum(const Frame& f) {
  uint32_t sum = 0;
  for (uint32_t at = f.l3_offset(); at < f.udp_offset(); at += 2) sum += load_be16(f.data() + at);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

void check_rewrites(const Frame& f) {
  std::vector<uint8_t> b(f.bytes().begin(), f.bytes().end());
  write_icrc(f, b);
  MRDMA_CHECK(icrc_ok(parse_again(b)));
  const std::vector<uint8_t> sealed = b;
  for (const bool on : {!f.ack_req(), f.ack_req()}) {
    rewrite_ack_req(parse_again(b), b, on);
    MRDMA_CHECK(parse_again(b).ack_req() == on && icrc_ok(parse_again(b)));
  }
  MRDMA_CHECK(b == sealed);
  for (uint8_t ecn = 0; ecn < 4; ++ecn) {
    const bool was_right = ip_sum(parse_again(b)) == 0xffff;
    rewrite_ecn(parse_again(b), b, ecn);
    const Frame now = parse_again(b);
    MRDMA_CHECK(now.ecn() == ecn && icrc_ok(now));
    MRDMA_CHECK(!f.is_v4() || !was_right || ip_sum(now) == 0xffff);
  }
}

void check_answer(const Frame& f) {
  RoceSpec ack;
  ack.opcode = op::kRcAck;
  ack.dest_qp = f.dest_qp();
  ack.psn = f.psn();
  const L2L3 path = L2L3::from(f, true);
  std::vector<uint8_t> b(roce_frame_size(path, ack));
  build_roce(path, ack, b);
  const Frame a = parse_again(b);
  MRDMA_CHECK(icrc_ok(a) && a.psn() == f.psn() && a.vlan_tags() == f.vlan_tags());
  MRDMA_CHECK(a.source() == f.destination() && a.destination() == f.source() && a.is_v4() == f.is_v4());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes bytes{data, size};
  const uint16_t type = ether_type(bytes);
  const ParseResult r = parse_frame(bytes);
  if (r.kind != ParseKind::kRoce) {
    MRDMA_CHECK(r.reason != Reason::kNone && r.frame.data() == nullptr);
    return 0;
  }
  MRDMA_CHECK(type == (r.frame.is_v4() ? 0x0800 : 0x86dd));
  check_layout(r.frame, size);
  const std::vector<uint8_t> copy(bytes.begin(), bytes.end());
  MRDMA_CHECK(touch(r.frame) == touch(parse_again(copy)));  // depends on the bytes alone
  MRDMA_CHECK(compute_icrc(r.frame) == compute_icrc(parse_again(copy)));
  check_rewrites(r.frame);
  check_answer(r.frame);
  return 0;
}
