#include "bench/dataplane/traffic.h"

#include <numeric>
#include <utility>

#include "dataplane/base/prng.h"
#include "dataplane/wire/frame_builder.h"

namespace matchrdma::dataplane_bench {
namespace {

constexpr uint32_t kHosts = 64, kFirstSender = 0x800000, kFirstReceiver = 0x10000;
constexpr uint8_t kCredits = 31;

IpAddress host(uint8_t side, uint32_t flow) {
  return IpAddress::v4(std::array<uint8_t, 4>{10, side, 0, static_cast<uint8_t>(1 + flow % kHosts)}.data());
}

uint8_t write_opcode(uint32_t packet, uint32_t packets) {
  if (packets == 1) return op::kRcWriteOnly;
  if (packet == 0) return op::kRcWriteFirst;
  return packet + 1 == packets ? op::kRcWriteLast : op::kRcWriteMiddle;
}

}  // namespace

Traffic::Traffic(const TrafficOptions& o) : o_(o), flows_(o.flows), order_(o.flows), payload_(o.payload, 0x5a) {
  std::iota(order_.begin(), order_.end(), 0u);
  Prng prng(1);
  for (size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[prng.below(i)]);
}

Registration Traffic::registration(uint32_t flow, Completion completion) const {
  Registration r;
  r.a = {host(0, flow), Qpn{kFirstSender + flow}, true, Psn{0}};
  r.b = {host(1, flow), Qpn{kFirstReceiver + flow}, true, Psn{0}};
  r.path_mtu = o_.payload;
  r.completion = completion;
  return r;
}

std::vector<io::FlowName> Traffic::names() const {
  std::vector<io::FlowName> all(flows_.size());
  for (uint32_t i = 0; i < all.size(); ++i) {
    const Registration r = registration(i, Completion::kEarly);
    std::memcpy(&all[i][0], r.a.ip.b.data() + 12, 4);
    std::memcpy(&all[i][1], r.b.ip.b.data() + 12, 4);
    all[i][2] = __builtin_bswap32(r.b.qpn.v);  // as it stands in the BTH, behind a byte of zero
  }
  return all;
}

PacketRef Traffic::next_request(PacketPool& pool) {
  const uint32_t i = order_[turn_];
  turn_ = turn_ + 1 == order_.size() ? 0 : turn_ + 1;
  Flow& f = flows_[i];
  L2L3 l;
  l.mac_dst = {2, 0, 0, 0, 9, 2};
  l.mac_src = {2, 0, 0, 0, 9, 1};
  l.src = host(0, i);
  l.dst = host(1, i);
  l.udp_source_port = static_cast<uint16_t>(0xc000 + i % 0x3fff);
  l.traffic_class = 2;
  RoceSpec r;
  r.opcode = write_opcode(f.packet, o_.message_packets);
  r.dest_qp = Qpn{kFirstReceiver + i};
  r.psn = Psn{f.psn};
  r.ack_req = f.packet + 1 == o_.message_packets;
  r.dma_length = o_.payload * o_.message_packets;
  r.payload = payload_;
  PacketRef p = build_roce(l, r, pool);
  if (!p) return p;
  f.psn = (f.psn + 1) & Psn::kMask;
  f.packet = f.packet + 1 == o_.message_packets ? 0 : f.packet + 1;
  ++sent_;
  return p;
}

bool Traffic::unfinished() {
  for (size_t tried = 0; tried < order_.size(); ++tried) {
    if (flows_[order_[turn_]].packet != 0) return true;
    turn_ = turn_ + 1 == order_.size() ? 0 : turn_ + 1;
  }
  return false;
}

PacketRef Traffic::receive(Bytes frame, PacketPool& pool) {
  const ParseResult parsed = parse_frame(frame);
  const Frame& f = parsed.frame;
  const uint32_t i = parsed.kind == ParseKind::kRoce ? f.dest_qp().v - kFirstReceiver : UINT32_MAX;
  if (i >= flows_.size() || !f.info().request) {
    ++wrong_;
    return {};
  }
  Flow& flow = flows_[i];
  const bool again = ((flow.expected - f.psn().v) & Psn::kMask) < Psn::kMask / 2;
  if (f.psn().v == flow.expected) {
    ++received_;
    flow.expected = (flow.expected + 1) & Psn::kMask;
    if (f.info().ends_message()) ++flow.msn;
  } else {
    ++(again ? repeated_ : wrong_);
  }
  if (!f.ack_req()) return {};
  RoceSpec r;
  r.opcode = op::kRcAck;
  r.dest_qp = Qpn{kFirstSender + i};
  r.psn = Psn{(flow.expected - 1) & Psn::kMask};
  r.syndrome = kCredits;
  r.msn = Msn{flow.msn & 0xffffff};
  return build_roce(L2L3::from(f, true), r, pool);
}

void Traffic::acknowledged(Bytes frame) {
  const ParseResult parsed = parse_frame(frame);
  const bool ack = parsed.kind == ParseKind::kRoce && parsed.frame.opcode() == op::kRcAck &&
                   (parsed.frame.aeth_syndrome() & 0xe0) == kAethAck;
  ++(ack ? acks_ : wrong_);
}

}  // namespace matchrdma::dataplane_bench
