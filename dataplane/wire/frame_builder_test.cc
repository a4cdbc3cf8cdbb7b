#include "dataplane/wire/frame_builder.h"

#include <gtest/gtest.h>

#include "dataplane/wire/icrc.h"
#include "dataplane/wire/test_frames.h"

namespace matchrdma {
namespace {

using test::endpoints;
using test::spec_of;
using test::TestPool;
using Buffer = std::vector<uint8_t>;

Frame parsed(Bytes b) {
  const ParseResult r = parse_frame(b);
  EXPECT_EQ(r.kind, ParseKind::kRoce) << reason_text(r.reason);
  return r.frame;
}

uint16_t ones_sum(Bytes b, uint32_t sum = 0) {
  for (size_t i = 0; i < b.size(); ++i) sum += uint32_t{b[i]} << (i % 2 == 0 ? 8 : 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(sum);
}
/// RFC 1071: a header with its checksum in place sums up to ones.
bool ip_checksum_ok(const Frame& f) {
  return !f.is_v4() || ones_sum(f.bytes().subspan(f.l3_offset(), f.udp_offset() - f.l3_offset())) == 0xffff;
}
bool udp_checksum_ok(const Frame& f) {
  const uint32_t size = f.icrc_offset() + 4 - f.udp_offset();
  uint32_t sum = 17 + size;
  sum +=
      ones_sum(f.is_v4() ? f.bytes().subspan(f.l3_offset() + 12, 8) : f.bytes().subspan(f.l3_offset() + 8, 32));
  return f.udp_checksum() != 0 && ones_sum(f.bytes().subspan(f.udp_offset(), size), sum) == 0xffff;
}

void expect_same_path(const Frame& f, const L2L3& l) {
  EXPECT_TRUE(std::equal(l.mac_dst.begin(), l.mac_dst.end(), f.data()));
  EXPECT_TRUE(std::equal(l.mac_src.begin(), l.mac_src.end(), f.data() + 6));
  EXPECT_EQ(f.is_v4(), l.src.is_v4());
  EXPECT_EQ(f.source(), l.src);
  EXPECT_EQ(f.destination(), l.dst);
  EXPECT_EQ(f.vlan_tags(), l.vlan_tags);
  for (int i = 0; i < l.vlan_tags; ++i) EXPECT_EQ(f.vlan_tci(i), l.vlan_tci[static_cast<size_t>(i)]);
  EXPECT_EQ(f.traffic_class(), l.traffic_class);
  EXPECT_EQ(f.hop_limit(), l.hop_limit);
  EXPECT_EQ(f.flow_label(), l.flow_label);
  EXPECT_EQ(f.udp_source_port(), l.udp_source_port);
}

void expect_same_bth(const Frame& f, const RoceSpec& r) {
  EXPECT_EQ(f.opcode(), r.opcode);
  EXPECT_EQ(f.dest_qp(), r.dest_qp);
  EXPECT_EQ(f.psn(), r.psn);
  EXPECT_EQ(f.pkey(), r.pkey);
  EXPECT_EQ(f.ack_req(), r.ack_req);
  EXPECT_EQ(f.solicited(), r.solicited);
  EXPECT_EQ(f.mig_req(), r.mig_req);
  EXPECT_EQ(f.becn(), r.becn);
  EXPECT_EQ(f.fecn(), r.fecn);
  EXPECT_EQ(f.payload_length(), r.payload.size());
  EXPECT_TRUE(std::equal(r.payload.begin(), r.payload.end(), f.payload().begin()));
}

void expect_same_extensions(const Frame& f, const RoceSpec& r) {
  const OpcodeInfo& o = f.info();
  EXPECT_EQ(f.extension_headers().size(), o.ext_len);
  if (o.reth) {
    EXPECT_EQ(f.reth_va(), r.va);
    EXPECT_EQ(f.reth_rkey(), r.rkey);
    EXPECT_EQ(f.reth_length(), r.dma_length);
  }
  if (o.aeth) {
    EXPECT_EQ(f.aeth_syndrome(), r.syndrome);
    EXPECT_EQ(f.aeth_msn(), r.msn);
  }
  if (o.atomic_eth) {
    EXPECT_EQ(f.atomic_va(), r.va);
    EXPECT_EQ(f.atomic_rkey(), r.rkey);
    EXPECT_EQ(f.atomic_swap_add(), r.swap_add);
    EXPECT_EQ(f.atomic_compare(), r.compare);
  }
  if (o.deth) {
    EXPECT_EQ(f.deth_qkey(), r.qkey);
    EXPECT_EQ(f.deth_source_qp(), r.source_qp);
  }
  EXPECT_TRUE(!o.atomic_ack_eth || f.atomic_original() == r.atomic_original);
  EXPECT_TRUE(!o.imm || f.imm() == r.imm);
  EXPECT_TRUE(!o.ieth || f.ieth_rkey() == r.ieth_rkey);
  EXPECT_TRUE(!o.feth || f.feth() == r.feth);
}

TEST(FrameBuilder, RoundTripOfEveryOpcode) {
  const uint8_t data[5] = {9, 8, 7, 6, 5};
  for (int code = 0; code < 256; ++code) {
    for (bool v4 : {true, false}) {
      for (int tags : {0, 1, 2}) {
        SCOPED_TRACE(std::string(opcode_name(static_cast<uint8_t>(code))) + (v4 ? " v4 " : " v6 ") +
                     std::to_string(tags));
        L2L3 l = endpoints(v4, tags);
        l.udp_checksum = tags == 1;
        const RoceSpec r = spec_of(static_cast<uint8_t>(code), data);
        const Buffer b = test::build(l, r);
        const Frame f = parsed(b);
        expect_same_path(f, l);
        expect_same_bth(f, r);
        expect_same_extensions(f, r);
        EXPECT_TRUE(icrc_ok(f));
        EXPECT_TRUE(ip_checksum_ok(f));
        EXPECT_EQ(f.udp_checksum() != 0, l.udp_checksum);
        EXPECT_TRUE(!l.udp_checksum || udp_checksum_ok(f));
      }
    }
  }
}

TEST(FrameBuilder, Ipv4IsSentUnfragmentableWithIdentificationZero) {
  const Buffer b = test::write_only(true);
  EXPECT_EQ(load_be32(b.data() + 18), 0x00004000u);
}

// The builder makes the very bytes of the ConnectX-4 Lx, but for the identification and its checksum.
TEST(FrameBuilder, CnpIsThatOfTheNic) {
  Buffer nic = test::connectx_cnp();
  TestPool pool(1);
  const Frame reference = parsed(nic);
  PacketRef cnp = build_cnp(L2L3::from(reference, false), Qpn{0x118}, pool);
  ASSERT_TRUE(cnp);
  ASSERT_EQ(cnp->size, 74u);
  Buffer built(cnp->data, cnp->data + cnp->size);
  EXPECT_TRUE(icrc_ok(parsed(built)));
  for (size_t at : {18, 19, 24, 25, 70, 71, 72, 73}) built[at] = nic[at];  // identification, checksum, ICRC
  EXPECT_EQ(built, nic);
}

TEST(FrameBuilder, PoolExhaustion) {
  TestPool pool(1);
  const L2L3 l = endpoints(true, 0);
  PacketRef first = build_cnp(l, Qpn{1}, pool);
  EXPECT_TRUE(first);
  EXPECT_FALSE(build_cnp(l, Qpn{1}, pool));
  EXPECT_FALSE(build_roce(l, spec_of(op::kRcAck, {}), pool));
  first.reset();
  EXPECT_EQ(pool.live(), 0u);
  EXPECT_TRUE(build_roce(l, spec_of(op::kRcAck, {}), pool));
}

TEST(FrameBuilder, AckIs62BytesWithoutFcs) {
  EXPECT_EQ(roce_frame_size(endpoints(true, 0), spec_of(op::kRcAck, {})), 62u);
}

TEST(L2L3, FromAFrame) {
  for (bool v4 : {true, false}) {
    for (int tags : {0, 1, 2}) {
      L2L3 l = endpoints(v4, tags);
      l.udp_checksum = true;
      const Buffer b = test::build(l, spec_of(op::kRcSendOnly, {}));
      const Frame f = parsed(b);
      const L2L3 same = L2L3::from(f, false);
      expect_same_path(f, same);
      EXPECT_EQ(test::build(same, spec_of(op::kRcSendOnly, {})), b);
      const L2L3 back = L2L3::from(f, true);
      EXPECT_EQ(back.src, l.dst);
      EXPECT_EQ(back.dst, l.src);
      EXPECT_EQ(back.mac_src, l.mac_dst);
      EXPECT_EQ(back.mac_dst, l.mac_src);
      EXPECT_EQ(back.hop_limit, 64);
      EXPECT_EQ(back.traffic_class, l.traffic_class);
      EXPECT_EQ(back.udp_source_port, l.udp_source_port);
    }
  }
}

TEST(L2L3, AnswerToAMarkedFrameIsNotMarked) {
  L2L3 l = endpoints(true, 0);
  l.traffic_class = 107;  // DSCP 26, CE
  const Buffer b = test::build(l, spec_of(op::kRcSendOnly, {}));
  EXPECT_EQ(L2L3::from(parsed(b), true).traffic_class, 106);
  EXPECT_EQ(L2L3::from(parsed(b), false).traffic_class, 107);
}

TEST(Rewrite, AckReq) {
  const uint8_t data[3] = {1, 2, 3};
  for (bool v4 : {true, false}) {
    for (bool checksum : {false, true}) {
      for (bool on : {false, true}) {
        L2L3 l = endpoints(v4, 1);
        l.udp_checksum = checksum;
        RoceSpec r = spec_of(op::kRcWriteLast, data);
        r.ack_req = !on;
        Buffer b = test::build(l, r);
        rewrite_ack_req(parsed(b), b, on);
        r.ack_req = on;
        EXPECT_EQ(b, test::build(l, r)) << v4 << checksum << on;
        rewrite_ack_req(parsed(b), b, on);
        EXPECT_EQ(b, test::build(l, r)) << "twice is once";
      }
    }
  }
}

// RFC 768: 0 would say "no checksum". These PSNs, found by search, are those whose checksum comes out as 0.
TEST(Rewrite, UdpChecksumThatComesOutAsZeroIsSentAsOnes) {
  L2L3 l = endpoints(true, 0);
  l.udp_checksum = true;
  for (bool on : {false, true}) {
    RoceSpec r = spec_of(op::kRcAck, {});
    r.psn = Psn{on ? 18871u : 24441u};
    r.ack_req = on;
    const Buffer expected = test::build(l, r);
    EXPECT_EQ(parsed(expected).udp_checksum(), 0xffff);
    r.ack_req = !on;
    Buffer b = test::build(l, r);
    rewrite_ack_req(parsed(b), b, on);
    EXPECT_EQ(b, expected);
  }
}

// The frame may be a copy: offsets come from the view, bytes from the copy. The original stays as it is.
TEST(Rewrite, AckReqOnACopy) {
  RoceSpec r = spec_of(op::kRcSendMiddle, {});
  r.ack_req = false;
  const Buffer original = test::build(endpoints(true, 0), r);
  Buffer copy = original;
  rewrite_ack_req(parsed(original), copy, true);
  EXPECT_FALSE(parsed(original).ack_req());
  EXPECT_TRUE(parsed(copy).ack_req());
  EXPECT_TRUE(icrc_ok(parsed(copy)));
  EXPECT_TRUE(icrc_ok(parsed(original)));
}

TEST(Rewrite, EcnFromEveryCodepointToEveryOther) {
  for (bool v4 : {true, false}) {
    for (int dscp = 0; dscp < 64; ++dscp) {
      for (uint8_t from = 0; from < 4; ++from) {
        for (uint8_t to = 0; to < 4; ++to) {
          L2L3 l = endpoints(v4, 0);
          l.udp_checksum = true;
          l.traffic_class = static_cast<uint8_t>(dscp * 4 + from);
          Buffer b = test::build(l, spec_of(op::kRcAck, {}));
          rewrite_ecn(parsed(b), b, to);
          l.traffic_class = static_cast<uint8_t>(dscp * 4 + to);
          ASSERT_EQ(b, test::build(l, spec_of(op::kRcAck, {})))
              << v4 << ' ' << dscp << ' ' << +from << ' ' << +to;
        }
      }
    }
  }
}

}  // namespace
}  // namespace matchrdma
