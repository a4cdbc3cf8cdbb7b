#pragma once
// Datagrams of the signalling queue pair. Each is a snapshot: a newer one says all that an older one said, so
// any may be lost or come twice (HOST.md, sdr).
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "dataplane/base/bytes.h"
#include "dataplane/base/time.h"

namespace matchrdma::host {

/// Where the packets of one message go: a slot and the key that is good for this use of it.
struct GrantedPart {
  uint16_t slot = 0, generation = 0;
  uint32_t rkey = 0;
  uint64_t remote = 0;
  uint64_t length =
      0;  ///< bytes of a message, before the transform, that may go there; 0: there is no such part
  bool operator==(const GrantedPart&) const = default;
};
struct Grant {
  uint64_t message = 0;  ///< counted from 0 in an epoch; the sender's n-th message takes the n-th grant
  GrantedPart data, parity;
  uint64_t seed = 0;  ///< of the transform's signs
  bool operator==(const Grant&) const = default;
};

/// Clocks are told apart by whose they are; an echo is the sender's own time come back.
struct Echo {
  Instant sent;        ///< by the clock of the State that was seen last; never(): none
  Duration residence;  ///< how long ago that was
  bool operator==(const Echo&) const = default;
};

/// Sender to receiver.
struct SenderState {
  struct Entry {
    uint64_t message = 0, length = 0;  ///< bytes
    bool all_sent = false;             ///< every packet has left once
    bool fin = false;                  ///< acknowledged whole: no packet will be posted again
    bool operator==(const Entry&) const = default;
  };
  Instant now;
  Duration round_trip;         ///< as the sender measures it
  uint64_t granted_below = 0;  ///< grants of all messages below are known
  std::vector<Entry> entries;
  bool operator==(const SenderState&) const = default;
};

/// Receiver to sender.
struct ReceiverState {
  Echo echo;
  uint64_t finished_below = 0;  ///< FINs of all messages below were seen
  std::vector<Grant> grants;
  bool operator==(const ReceiverState&) const = default;
};

/// Receiver to sender, about packets [from, from + bits.size() * 8) of one message.
struct Ack {
  Echo echo;
  uint64_t message = 0;
  uint32_t received = 0;  ///< packets so far
  uint32_t judged_below =
      0;              ///< a packet below that is not in the bitmap is lost, or was sent too late to be here
  bool done = false;  ///< the whole message is there
  uint32_t whole_below = 0;  ///< every packet below is there
  uint32_t from = 0;
  std::vector<uint8_t> bits;  ///< packet from + i is bit i % 8 of byte i / 8
  bool operator==(const Ack&) const = default;
};

using Signal = std::variant<SenderState, ReceiverState, Ack>;
inline constexpr size_t kGrantBytes = 64, kEntryBytes = 17, kSignalHeader = 48;

/// `epoch` tells the lives of a connection apart. Returns what must fit into one datagram.
std::vector<uint8_t> encode_signal(const Signal& signal, uint32_t epoch);
/// Nothing: not a whole signal of this epoch and version.
std::optional<Signal> decode_signal(Bytes datagram, uint32_t epoch);

}  // namespace matchrdma::host
