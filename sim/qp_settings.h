#pragma once
// How the two ends of a QP behave (SIMULATOR 2).
#include <cstdint>
#include <optional>

#include "sim/reaction_point.h"
#include "sim/sim_packet.h"
#include "sim/sim_time.h"

namespace matchrdma::sim {

/// How a receiver tells of CE marks (SIMULATOR 2, "Notification point").
enum class Notification : uint8_t {
  kEveryAck,   ///< HPCC: the CNP bit on each ACK of a marked packet, no pacing
  kPacedBit,   ///< THEMIS: that bit at most once per gap
  kCnpPacket,  ///< hardware: a CNP of its own, at most once per gap
};

struct SenderSettings {
  uint32_t mtu = 1024;  ///< payload bytes of a packet
  uint8_t traffic_class = kDataClass;
  int64_t window_bytes = 0;          ///< most bytes not acknowledged; 0: no limit
  bool window_follows_rate = false;  ///< VAR_WIN: the window times rate / line rate
  std::optional<ReactionSettings> reaction{};
  bool recovers = true;  ///< the forks have no retransmission timer: a lost tail stays lost
  SimSpan timeout = SimSpan::nanos(4096) * (1 << 14);
  int retries = 7;
};

struct ReceiverSettings {
  int64_t ack_interval = 1;  ///< bytes: an ACK when a multiple of it is crossed (L2_ACK_INTERVAL)
  int64_t ack_chunk = 4000;  ///< bytes: an ACK at each multiple of it (L2_CHUNK_SIZE)
  SimSpan nack_gap = SimSpan::micros(500);  ///< between NACKs of the same byte
  bool acks_duplicates = true;              ///< IBA 9.7.5.1.2; the forks drop them without a word
  Notification notification = Notification::kCnpPacket;
  SimSpan cnp_gap = SimSpan::micros(4);  ///< np_min_gap
};

}  // namespace matchrdma::sim
