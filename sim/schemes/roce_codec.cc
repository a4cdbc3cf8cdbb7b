#include "sim/schemes/roce_codec.h"

#include <algorithm>
#include <array>

#include "dataplane/base/check.h"
#include "dataplane/wire/frame.h"
#include "dataplane/wire/frame_builder.h"

namespace matchrdma::sim {
namespace {

constexpr std::array<uint8_t, 4096> kZeros{};
constexpr uint8_t kDataDscp = 26, kControlDscp = 48;
constexpr uint16_t kFirstPort = 0xc000, kFlowMask = 0x3fff;
constexpr uint8_t kNoCredits = 31;  ///< "no limit" (IBA 9.7.7.2)

uint32_t host_of(const IpAddress& a) { return uint32_t{a.b[13]} << 16 | uint32_t{a.b[14]} << 8 | a.b[15]; }

uint8_t request_opcode(const SimPacket& p) {
  if (p.starts_message) return p.ends_message ? op::kRcWriteOnly : op::kRcWriteFirst;
  return p.ends_message ? op::kRcWriteLast : op::kRcWriteMiddle;
}

}  // namespace

IpAddress RoceCodec::address(uint32_t host) {
  const std::array<uint8_t, 4> ip{10, static_cast<uint8_t>(host >> 16), static_cast<uint8_t>(host >> 8),
                                  static_cast<uint8_t>(host)};
  return IpAddress::v4(ip.data());
}

int64_t& RoceCodec::nearest(Nearest& all, uint32_t host, uint32_t qp) {
  if (all.size() <= host) all.resize(host + 1);
  std::vector<int64_t>& of_host = all[host];
  if (of_host.size() <= qp) of_host.resize(qp + 1, 0);
  return of_host[qp];
}

PacketRef RoceCodec::encode(const SimPacket& p) const {
  const bool data = p.kind == FrameKind::kData;
  L2L3 l;
  l.mac_src = {2, 0, 0, 0, 0, 1};
  l.mac_dst = {2, 0, 0, 0, 0, 2};
  l.src = address(p.source);
  l.dst = address(p.destination);
  l.udp_source_port = static_cast<uint16_t>(kFirstPort | (p.flow & kFlowMask));
  l.traffic_class =
      static_cast<uint8_t>((data ? kDataDscp : kControlDscp) << 2 | (data ? (p.ce ? kCe : kEct0) : 0));
  if (p.kind == FrameKind::kCnp) return build_cnp(l, sender(p.qp), pool_);
  RoceSpec r;
  r.psn = wire_psn(p.seq);
  if (data) {
    r.opcode = request_opcode(p);
    r.dest_qp = receiver(p.qp);
    r.ack_req = p.ends_message;
    r.rkey = 1;
    r.dma_length = p.message;
    r.payload = Bytes{kZeros}.first(p.payload);
    return build_roce(l, r, pool_);
  }
  r.opcode = op::kRcAck;
  r.dest_qp = sender(p.qp);
  r.msn = wire_msn(p.message);
  if (p.kind == FrameKind::kAck) {
    r.psn = wire_psn(p.seq - 1);
    r.syndrome = kAethAck | kNoCredits;
  } else {
    r.syndrome = kNakSequence;
  }
  return build_roce(l, r, pool_);
}

bool RoceCodec::decode(Bytes frame, SimPacket& p) {
  const ParseResult parsed = parse_frame(frame);
  MRDMA_CHECK(parsed.kind == ParseKind::kRoce);
  const Frame& f = parsed.frame;
  p.source = host_of(f.source());
  p.destination = host_of(f.destination());
  p.flow = f.udp_source_port() & kFlowMask;
  p.ce = f.ecn() == kCe;
  const uint32_t qpn = f.dest_qp().v;
  if (f.info().request) {
    p.kind = FrameKind::kData;
    p.qp = qpn - kReceivers;
    int64_t& near = nearest(requests_, p.destination, p.qp);
    p.seq = near = unwrap24(f.psn().v, near);
    p.payload = f.payload_length();
    p.starts_message = f.info().starts_message();
    p.ends_message = f.info().ends_message();
    return true;
  }
  p.qp = qpn - kSenders;
  if (f.opcode() == op::kCnp) {
    p.kind = FrameKind::kCnp;
    p.cnp = true;
    return true;
  }
  int64_t& near = nearest(answers_, p.destination, p.qp);
  p.message = f.aeth_msn().v;
  p.seq = near = unwrap24(f.psn().v, near);
  if (f.aeth_syndrome() == kNakSequence) {
    p.kind = FrameKind::kNack;
    return true;
  }
  p.kind = FrameKind::kAck;
  ++p.seq;
  return (f.aeth_syndrome() & 0x60) == kAethAck;
}

}  // namespace matchrdma::sim
