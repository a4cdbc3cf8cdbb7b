#pragma once
// What a capture holds, counted.
#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "dataplane/base/reason.h"
#include "dataplane/base/time.h"
#include "dataplane/base/types.h"
#include "dataplane/wire/frame.h"
#include "pcap/capture_reader.h"

namespace matchrdma {

/// Packets of one direction to one queue pair: all that can be told from single packets.
struct TraceFlowKey {
  IpAddress source, destination;
  Qpn destination_qp;
  auto operator<=>(const TraceFlowKey&) const = default;
};

struct TraceFlow {
  uint64_t packets = 0;
  uint64_t bytes = 0;                      ///< on the wire, with all headers
  std::optional<Psn> first_psn, last_psn;  ///< in file order; none when there were CNPs only (their PSN is 0)
};

/// Duty: counts of the packets given to add(). Every packet is counted once in roce, malformed, truncated or
/// not_roce. Memory is bounded: a capture with very many flows leaves the later ones unlisted, and says so.
struct TraceInfo {
  static constexpr size_t kMaxFlows = 65536;

  uint64_t packets = 0;
  uint64_t bytes = 0;      ///< original lengths
  uint64_t roce = 0;       ///< sound RoCEv2 packets, unknown opcodes among them
  uint64_t icrc_bad = 0;   ///< of these: with a wrong ICRC
  uint64_t malformed = 0;  ///< RoCEv2 by its headers, yet not sound
  uint64_t truncated = 0;  ///< the capture or frame ends before the packet does
  uint64_t not_roce = 0;
  std::array<uint64_t, 256> opcodes{};
  std::array<uint64_t, 4> ecn{};  ///< of RoCEv2 packets: not-ECT, ECT(1), ECT(0), CE
  std::array<uint64_t, 256> aeth_syndromes{};
  ReasonCounters reasons;  ///< why packets were not roce, or not acted on
  std::map<uint16_t, uint64_t> udp_source_ports;
  std::map<TraceFlowKey, TraceFlow> flows;
  uint64_t packets_of_unlisted_flows = 0;
  std::optional<Instant> first, last;  ///< earliest and latest time

  void add(const CapturedPacket& p);
  /// Adds all that `reader` still yields. Its status() tells how that ended.
  void add_all(CaptureReader& reader);
  Duration duration() const;

 private:
  void add_roce(const Frame& f, uint32_t wire_bytes);
};

/// "ACK_31" (the number is the credit code), "RNR_NAK_12" (timer code), "NAK_0" (error code), "RESERVED_1".
std::string aeth_syndrome_name(uint8_t syndrome);
/// "Not-ECT", "ECT(1)", "ECT(0)", "CE".
const char* ecn_name(size_t codepoint);

}  // namespace matchrdma
