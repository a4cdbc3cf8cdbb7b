#pragma once
// What both ends of an SDR connection agree on, and what each chooses.
#include <cstdint>
#include <optional>

#include "dataplane/base/time.h"
#include "dataplane/base/types.h"
#include "host/code/hadamard.h"
#include "host/fabric/immediate.h"

namespace matchrdma::host {

/// Agreed on in HELLO (host/control).
struct SdrShape {
  uint32_t epoch = 1;              ///< of this life of the connection
  uint32_t packet_bytes = 4096;    ///< of one WRITE_WITH_IMM: the path MTU with UC, a chunk with RC
  uint32_t chunk_packets = 16;     ///< a power of two
  uint32_t datagram_bytes = 1024;  ///< of the signalling queue pair, at most its path MTU
  ImmediateLayout layout;
  uint32_t code_k = 0, code_m = 0;        ///< chunks of data and of parity in a group; 0: no erasure code
  std::optional<ElementType> hadamard{};  ///< messages are numbers of this type, and transformed (H18)
  uint64_t packets_of(uint64_t bytes) const { return (bytes + packet_bytes - 1) / packet_bytes; }
  bool coded() const { return code_m != 0; }
  bool operator==(const SdrShape&) const = default;
};

struct SenderOptions {
  Rate rate{100'000'000'000};   ///< of payload: configured, or the proxy's BUDGET
  double expected_loss = 1e-3;  ///< the rate is halved when more than twice of it is lost (C8)
  Duration first_round_trip = Duration::millis(10);
  uint32_t send_queue = 256;  ///< work requests outstanding
};

struct ReceiverOptions {
  uint32_t slots = 8;
  /// Packets go to memory of the library and are copied (tier C), so the application's needs no key.
  bool copy = false;
  uint64_t slot_bytes = 0;  ///< tier C: the longest message
  /// How long a packet may be overtaken by those behind it before it counts as lost.
  Duration reorder_margin = Duration::micros(100);
  Duration generation_rest = Duration::seconds(1);
  /// Best effort: how long after all was sent a message that is not whole is given up; 0: it is repaired for
  /// ever.
  Duration give_up{};
  /// Of the signs of the transform, with the epoch and the number of the message.
  uint64_t seed = 0;
};

}  // namespace matchrdma::host
