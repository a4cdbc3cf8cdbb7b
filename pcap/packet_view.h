#pragma once
// One packet of the replay with what all its observers need, told once.
#include "dataplane/wire/icrc.h"
#include "pcap/trace_flows.h"

namespace matchrdma {

struct PacketView {
  ParseResult parsed;
  int stream = -1;  ///< TraceFlows::streams()
  bool rc = false;  ///< of an RC stream, ICRC right
  bool bad_icrc = false;

  const Frame& frame() const { return parsed.frame; }
  bool request() const { return rc && frame().info().request; }
  bool read_request() const { return request() && frame().info().read_class; }
  bool answer() const { return rc && frame().info().response; }
  /// READ response or atomic ACK: carries data, is in nobody's custody.
  bool data_response() const { return answer() && frame().opcode() != op::kRcAck; }
  /// ACK, or NAK of any kind.
  bool plain_ack() const { return answer() && frame().opcode() == op::kRcAck; }
  bool positive_ack() const { return plain_ack() && (frame().aeth_syndrome() & 0x60) == kAethAck; }

  /// `bad_icrc`: the verdict, where it is known already.
  static PacketView of(Bytes bytes, const TraceFlows& flows, std::optional<bool> bad_icrc = std::nullopt) {
    PacketView v;
    v.parsed = parse_frame(bytes);
    if (v.parsed.kind != ParseKind::kRoce) return v;
    v.bad_icrc = bad_icrc ? *bad_icrc : !icrc_ok(v.parsed.frame);
    v.stream = flows.stream_of(v.parsed);
    v.rc = v.stream >= 0 && !v.bad_icrc && v.frame().info().transport == Transport::kRc;
    return v;
  }
};

}  // namespace matchrdma
