#include "pcap/trace_info.h"

#include <limits>

#include "dataplane/wire/icrc.h"

namespace matchrdma {

void TraceInfo::add(const CapturedPacket& p) {
  ++packets;
  bytes += p.original_length;
  first = first ? earlier(*first, p.time) : p.time;
  last = last ? later(*last, p.time) : p.time;
  const ParseResult r = parse_frame(p.data);
  if (r.reason != Reason::kNone) reasons.add(r.reason);
  switch (r.kind) {
    case ParseKind::kRoce:
      add_roce(r.frame, p.original_length);
      break;
    case ParseKind::kNotRoce:
      ++not_roce;
      break;
    case ParseKind::kMalformed:
      ++(r.reason == Reason::kTruncated ? truncated : malformed);
      break;
  }
}

void TraceInfo::add_roce(const Frame& f, uint32_t wire_bytes) {
  ++roce;
  if (!icrc_ok(f)) ++icrc_bad;
  ++opcodes[f.opcode()];
  ++ecn[f.ecn()];
  if (f.info().aeth) ++aeth_syndromes[f.aeth_syndrome()];
  ++udp_source_ports[f.udp_source_port()];

  const TraceFlowKey key{f.source(), f.destination(), f.dest_qp()};
  auto it = flows.find(key);
  if (it == flows.end()) {
    if (flows.size() == kMaxFlows) {
      ++packets_of_unlisted_flows;
      return;
    }
    it = flows.emplace(key, TraceFlow{}).first;
  }
  TraceFlow& flow = it->second;
  ++flow.packets;
  flow.bytes += wire_bytes;
  if (f.opcode() != op::kCnp) {
    if (!flow.first_psn) flow.first_psn = f.psn();
    flow.last_psn = f.psn();
  }
}

void TraceInfo::add_all(CaptureReader& reader) {
  CapturedPacket p;
  while (reader.next(p) == ReadStatus::kPacket) add(p);
}

Duration TraceInfo::duration() const {
  if (!first) return {};
  // Times of a damaged pcapng may lie further apart than 64 bits can say.
  int64_t ns = 0;
  if (__builtin_sub_overflow(last->ns, first->ns, &ns)) ns = std::numeric_limits<int64_t>::max();
  return {ns};
}

// IBA 9.7.5.1, table "AETH Syndrome field": bits 6:5 say what it is, bits 4:0 its number; bit 7 is reserved.
std::string aeth_syndrome_name(uint8_t syndrome) {
  const std::string number = std::to_string(syndrome & 0x1f);
  switch (syndrome & 0x60) {
    case kAethAck:
      return "ACK_" + number;
    case kAethRnr:
      return "RNR_NAK_" + number;
    case kAethNak:
      return "NAK_" + number;
    default:
      return "RESERVED_" + number;
  }
}

const char* ecn_name(size_t codepoint) {
  constexpr std::array<const char*, 4> kNames{"Not-ECT", "ECT(1)", "ECT(0)", "CE"};
  return kNames[codepoint & 3];
}

}  // namespace matchrdma
