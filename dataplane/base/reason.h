#pragma once
// The one list of reasons: why a packet was bypassed, dropped, absorbed or not acted on.
// Adding a line adds the enum value, its text and its counter everywhere.
#include <array>
#include <cstddef>
#include <cstdint>

namespace matchrdma {

// clang-format off
//   id                      key in JSON and metrics       text for people
#define MATCHRDMA_REASONS(X)                                                                                    \
  /* not ours: forwarded untouched */                                                                           \
  X(kNotIp,                  "not_ip",                     "neither IPv4 nor IPv6")                              \
  X(kNotUdp,                 "not_udp",                    "IP, but not UDP")                                    \
  X(kNotRocePort,            "not_roce_port",              "UDP, but not to port 4791")                          \
  X(kFragment,               "fragment",                   "IP fragment: no transport header can be trusted")    \
  X(kUnknownTransport,       "unknown_transport",          "BTH of RD, XRC or a reserved transport")             \
  X(kUnknownOpcode,          "unknown_opcode",             "reserved BTH opcode")                                \
  X(kTransportVersion,       "transport_version",          "BTH transport version is not 0")                     \
  X(kTooManyVlanTags,        "too_many_vlan_tags",         "more than two VLAN tags")                            \
  /* malformed or cut: forwarded, counted */                                                                     \
  X(kTruncated,              "truncated",                  "capture or frame ends before the packet does")       \
  X(kIpHeader,               "ip_header",                  "bad IP version or header length")                    \
  X(kIpLength,               "ip_length",                  "IP length smaller than its headers")                 \
  X(kUdpLength,              "udp_length",                 "UDP length disagrees with the IP length")            \
  X(kShortBth,               "short_bth",                  "no room for BTH, extension headers and ICRC")        \
  X(kPadCount,               "pad_count",                  "pad count larger than the payload")                  \
  X(kIcrcLan,                "icrc_lan",                   "wrong ICRC from the LAN: forwarded, never owned")    \
  X(kIcrcWan,                "icrc_wan",                   "wrong ICRC from the span on a tracked flow: dropped")\
  X(kPause,                  "pause",                      "EtherType 0x8808 is never forwarded")                \
  /* flows */                                                                                                   \
  X(kUc,                     "uc",                         "UC: watched, not acknowledged")                      \
  X(kUd,                     "ud",                         "UD: watched, not acknowledged")                      \
  X(kUntracked,              "untracked",                  "RC flow that is not tracked")                        \
  X(kTransparentPolicy,      "transparent_policy",         "policy of this traffic class is transparent")        \
  X(kBelowBase,              "below_base",                 "PSN below the flow's base: always forwarded")        \
  X(kBarrier,                "barrier",                    "activation barrier not lifted: forwarded as it is")  \
  X(kFlowLimit,              "flow_limit",                 "flow table is full: transparent")                    \
  X(kOpaqueFence,            "opaque_fence",               "unknown request opcode on a known flow")             \
  X(kReadRange,              "read_range",                 "READ range above 2^22 PSNs: transparent")            \
  X(kDraining,               "draining",                   "flow drains to transparent")                         \
  X(kClosing,                "closing",                    "old generation is being destroyed")                  \
  X(kDoubted,                "doubted",                    "receiver silent too long: no custody, forwarded")    \
  X(kPoisoned,               "poisoned",                   "QP was failed: packets are answered with the fault") \
  /* absorbed or dropped by rule */                                                                              \
  X(kDuplicateOwned,         "duplicate_owned",            "retransmission of a packet in custody: absorbed")    \
  X(kDuplicateConfirmed,     "duplicate_confirmed",        "retransmission of a confirmed packet: answered")     \
  X(kDuplicateSilence,       "duplicate_silence",          "retransmission not in the ring while owning: silence")\
  X(kPayloadDiffers,         "payload_differs",            "retransmission with another payload: ignored")       \
  X(kSpanDuplicate,          "span_duplicate",             "second copy from the span")                          \
  X(kLanGapFull,             "lan_gap_full",               "too many packets behind a LAN gap")                  \
  X(kWindowLimit,            "window_limit",               "PSN window of the flow is full")                     \
  X(kMemoryHard,             "memory_hard",                "hard memory limit: not accepted")                    \
  X(kReorderMemory,          "reorder_memory",             "reorder memory is full: asked for again later")      \
  X(kPeerDown,               "peer_down",                  "peer is silent: no new custody, no pseudo-ACK")      \
  X(kDreqHeld,               "dreq_held",                  "DREQ waits until nothing of its QP is owned")        \
  X(kNoBuffer,               "no_buffer",                  "packet pool is exhausted")                           \
  X(kAckOutsideWindow,       "ack_outside_window",         "receiver ACK outside (acknowledged, delivered]")     \
  X(kNakDuringRnr,           "nak_during_rnr",             "sequence NAK during an RNR wait: ignored")           \
  X(kAckAbsorbed,            "ack_absorbed",               "receiver ACK consumed at the destination")           \
  X(kCnpConsumed,            "cnp_consumed",               "CNP from the receiver consumed")                     \
  X(kCustodyAckRange,        "custody_ack_range",          "CUSTODY_ACK outside (confirmed, highest sent]")      \
  X(kStaleMessage,           "stale_message",              "control message of another flow id or generation")
// clang-format on

enum class Reason : uint8_t {
  kNone,
#define MATCHRDMA_X(id, key, text) id,
  MATCHRDMA_REASONS(MATCHRDMA_X)
#undef MATCHRDMA_X
      kCount
};

inline constexpr std::array<const char*, static_cast<std::size_t>(Reason::kCount)> kReasonKeys = {
    "none",
#define MATCHRDMA_X(id, key, text) key,
    MATCHRDMA_REASONS(MATCHRDMA_X)
#undef MATCHRDMA_X
};
inline constexpr std::array<const char*, static_cast<std::size_t>(Reason::kCount)> kReasonTexts = {
    "none",
#define MATCHRDMA_X(id, key, text) text,
    MATCHRDMA_REASONS(MATCHRDMA_X)
#undef MATCHRDMA_X
};
constexpr const char* reason_key(Reason r) { return kReasonKeys[static_cast<std::size_t>(r)]; }
constexpr const char* reason_text(Reason r) { return kReasonTexts[static_cast<std::size_t>(r)]; }

/// Counter per reason, plain: one per worker.
struct ReasonCounters {
  std::array<uint64_t, static_cast<std::size_t>(Reason::kCount)> n{};
  void add(Reason r) { ++n[static_cast<std::size_t>(r)]; }
  uint64_t operator[](Reason r) const { return n[static_cast<std::size_t>(r)]; }
};

}  // namespace matchrdma
