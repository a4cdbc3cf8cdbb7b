// Frames of few QPs in any order past the learners: bounded, never a crash, and a pair only of QPNs that were
// seen, each from the side that it is said to stand on.
#include <set>
#include <vector>

#include "dataplane/flow/cm_learner.h"
#include "dataplane/flow/correlation.h"
#include "dataplane/wire/frame_builder.h"

namespace {

using namespace matchrdma;

struct Script {
  Bytes bytes;
  size_t at = 0;
  bool over() const { return at >= bytes.size(); }
  uint8_t next() { return over() ? 0 : bytes[at++]; }
};

L2L3 path(bool from_a) {
  static constexpr uint8_t kA[4] = {10, 9, 0, 1}, kB[4] = {10, 9, 0, 2};
  L2L3 l;
  l.src = IpAddress::v4(from_a ? kA : kB);
  l.dst = IpAddress::v4(from_a ? kB : kA);
  return l;
}

/// A packet of a few QPs with few PSNs, so that streams meet; a MAD takes its bytes from the script.
RoceSpec packet(Script& s, std::vector<uint8_t>& payload) {
  static constexpr uint8_t kOpcodes[] = {op::kRcWriteOnly,    op::kRcWriteFirst, op::kRcWriteMiddle,
                                         op::kRcReadReq,      op::kRcAck,        op::kRcAck,
                                         op::kRcReadRespOnly, op::kUdSendOnly};
  const uint8_t kind = s.next(), qp = s.next();
  RoceSpec r;
  r.opcode = kOpcodes[kind % 8];
  r.dest_qp = r.opcode == op::kUdSendOnly ? Qpn{1} : Qpn{0x10u + qp % 6};
  r.psn = Psn{(uint32_t{s.next()} << (kind % 3 * 7)) & Psn::kMask};
  r.ack_req = (kind & 0x20) != 0;
  r.msn = Msn{s.next()};
  r.syndrome = (kind & 0x40) != 0 ? 31 : s.next();
  r.dma_length = uint32_t{s.next()} << (kind % 4 * 8);
  payload.assign(r.opcode == op::kUdSendOnly ? 256 : (kind & 0x10) != 0 ? 256 : 0, 0);
  if (r.opcode == op::kUdSendOnly) {
    payload[0] = 1, payload[1] = 7, payload[2] = 2, payload[3] = 3;
    payload[17] = static_cast<uint8_t>(0x10 + s.next() % 8);
    for (size_t i = 24; i < 128 && !s.over(); ++i) payload[i] = s.next();
  }
  r.payload = payload;
  return r;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Script s{{data, size}};
  CorrelationLimits limits;
  limits.streams = 8;
  limits.host_pairs = 2;
  Correlation correlation(limits);
  CmLearner cm;
  Instant now{1'000'000'000};
  std::set<uint32_t> from_a, from_b;  // destination QPNs of what each host sent
  std::vector<uint8_t> payload, bytes;
  while (!s.over()) {
    const uint8_t how = s.next();
    const bool a = (how & 1) != 0;
    now = now + Duration::micros(int64_t{how} * how * 10);
    L2L3 l = path(a);
    l.udp_source_port = static_cast<uint16_t>(0xc000 + how / 64);
    const RoceSpec r = packet(s, payload);
    bytes.resize(roce_frame_size(l, r));
    build_roce(l, r, bytes);
    const Frame f = parse_frame(bytes).frame;
    const FlowKey key = FlowKey::of(f, 0);
    std::optional<Registration> pair;
    if (r.opcode == op::kUdSendOnly) {
      if (const auto mad = parse_cm_mad(f)) pair = cm.on_mad(*mad, f, a, now);
      MRDMA_CHECK(cm.pending() <= CmLearner::kPending);
      if (pair) MRDMA_CHECK(pair->a.ip == path(true).src && pair->b.ip == path(false).src);
      if (pair) correlation.forget(*pair);
      continue;
    }
    (a ? from_a : from_b).insert(r.dest_qp.v);
    if (f.info().request) {
      correlation.on_request(key, f, now);
    } else {
      pair = correlation.on_answer(key, f, a, now, Duration::millis(1));
    }
    if (pair) {
      MRDMA_CHECK(pair->a.ip == path(true).src && pair->b.ip == path(false).src);
      MRDMA_CHECK(from_a.contains(pair->b.qpn.v) && from_b.contains(pair->a.qpn.v));
    }
    MRDMA_CHECK(correlation.report().size() <= limits.streams);
  }
  return 0;
}
