#pragma once
// What two library ends say to each other over TCP. Credits and grants go over queue pairs, not here.
#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "host/fabric/immediate.h"
#include "host/fabric/nic.h"

namespace matchrdma::host {

/// Of framing and layouts. Both ends must have the same.
inline constexpr uint16_t kControlVersion = 1;

/// How a receiver fences a finished message: a region or window of its own, an indirect key, or library memory
/// and a copy.
enum class ReceiveTier : uint8_t { kOwnKey, kIndirectKey, kCopy };

/// The first message of each end.
struct ControlHello {
  uint16_t version = kControlVersion;
  std::string library;  ///< release, for people
  uint64_t life = 0;    ///< random; another one after a restart, when nothing said before holds any more
  bool uc = false;      ///< the NIC has the UC service
  ReceiveTier tier = ReceiveTier::kCopy;
  uint32_t path_mtu = 1024;  ///< the largest the port carries
  ImmediateLayout layout;    ///< of immediates that come to this end
  uint32_t page_size = 4096;
  bool operator==(const ControlHello&) const = default;
};

/// One queue pair of the sender of this message, ready to be connected to. A rebuilt path has the next epoch.
struct PathAddress {
  uint32_t path = 0, epoch = 0;
  Transport transport = Transport::kRc;
  QpAddress address;
  bool operator==(const PathAddress&) const = default;
};
struct PathAddresses {
  std::vector<PathAddress> all;
  bool operator==(const PathAddresses&) const = default;
};

/// Move your queue pair of this path and epoch to the error state, drain it, and say what came (HOST.md rule
/// 2).
struct Fence {
  uint32_t path = 0, epoch = 0;
  bool operator==(const Fence&) const = default;
};
struct Fenced {
  uint32_t path = 0, epoch = 0;
  uint64_t received = 0;        ///< SENDs and WRITEs with immediate that took effect; RC delivers them in order
  std::vector<uint8_t> detail;  ///< more, in the words of the layer that owns the path: what came out of order
  bool operator==(const Fenced&) const = default;
};

/// After a change of transport: everything before this message of the stream has been delivered.
struct Resume {
  uint32_t stream = 0;
  uint64_t delivered = 0;
  bool operator==(const Resume&) const = default;
};

/// Asks the other end to have its proxy (un)register a flow, where only that end can reach one.
struct FlowEnd {
  std::array<uint8_t, 16> gid{};
  uint32_t qpn = 0, psn = 0;  ///< 24 bits each
  bool operator==(const FlowEnd&) const = default;
};
struct RelayRegister {
  uint32_t request = 0;
  bool remove = false;
  uint32_t path_mtu = 1024;
  FlowEnd local, remote;  ///< as the sender of this message sees them
  bool operator==(const RelayRegister&) const = default;
};
struct RelayRegistered {
  uint32_t request = 0;
  bool done = false;
  std::string why;  ///< where it was refused
  bool operator==(const RelayRegistered&) const = default;
};

/// Asks the other process, not its NIC (HOST.md H16). Numbers with kUpperPing set are those of the layers above
/// the session: it hands their answers on.
inline constexpr uint64_t kUpperPing = uint64_t{1} << 63;
struct Ping {
  uint64_t number = 0;
  bool operator==(const Ping&) const = default;
};
struct Pong {
  uint64_t number = 0;
  bool operator==(const Pong&) const = default;
};

/// The last message. `fault`: the sender does not understand or does not accept what it got.
struct Bye {
  bool fault = false;
  std::string reason;
  bool operator==(const Bye&) const = default;
};

/// The sender of a transfer proposes how it goes; both ends make the same SDR shape of it. Its queue pairs
/// follow.
struct TransferOffer {
  uint32_t epoch = 0;     ///< of this transfer's queue pairs and signals
  uint8_t scheme = 0;     ///< as the layer above numbers them
  bool copy = false;      ///< tier C at the receiver
  uint8_t transform = 0;  ///< 0: none, otherwise 1 and the element's type, as the layer above numbers them
  uint64_t bytes = 0, message_bytes = 0;
  uint32_t path_mtu = 1024, code_k = 0, code_m = 0, messages_ahead = 0, paths = 1;
  bool proxied = false;     ///< proxies answer for the far end
  uint64_t rate = 0;        ///< bits per second
  uint64_t round_trip = 0;  ///< ns, a guess
  ImmediateLayout layout;   ///< what came of all that, to compare
  std::array<uint8_t, 32> sha256{};
  bool operator==(const TransferOffer&) const = default;
};
/// The receiver's queue pairs follow where it has accepted.
struct TransferAnswer {
  uint32_t epoch = 0;
  bool accepted = false;
  std::string why;  ///< where it was refused
  bool operator==(const TransferAnswer&) const = default;
};
/// What came of it at the end that says so; the receiver's after the sender's.
struct TransferReport {
  uint32_t epoch = 0;
  uint64_t took = 0;                                                               ///< ns; at the receiver 0
  uint64_t packets = 0, resent = 0, rate_halved = 0, round_trip = 0;               ///< the sender's
  uint64_t decoded = 0, duplicates = 0, stale = 0, missing_bytes = 0, rq_low = 0;  ///< the receiver's
  std::array<uint8_t, 32> sha256{};
  bool operator==(const TransferReport&) const = default;
};

/// One path of a flowcell connection at the end that says so: its queue pair, and where the peer writes tokens
/// and plans. What follows the epoch must be the same at both ends.
struct CellPathOpen {
  uint32_t path = 0, epoch = 0;
  uint32_t paths = 0, path_mtu = 1024, slots = 0, ring = 0;
  ImmediateLayout layout;
  QpAddress address;
  uint32_t rkey = 0;
  uint64_t tokens = 0, plans = 0;  ///< addresses under the key
  bool operator==(const CellPathOpen&) const = default;
};
/// The queue pair of this path and epoch takes packets: whoever sends earlier waits for a NIC's timer.
struct CellPathReady {
  uint32_t path = 0, epoch = 0;
  bool operator==(const CellPathReady&) const = default;
};
/// A buffer for the sender's message of this number.
struct CellGrant {
  uint64_t message = 0;
  uint32_t slot = 0, rkey = 0;
  uint64_t remote = 0, length = 0;  ///< bytes
  bool operator==(const CellGrant&) const = default;
};

/// A frame of a channel that has no RDMA now (host/channel/message_pipe.h).
struct ChannelPiece {
  std::vector<uint8_t> bytes;
  bool operator==(const ChannelPiece&) const = default;
};

/// The number of a type on the wire is its place here, from 1: append only.
using ControlMessage = std::variant<ControlHello, PathAddresses, Fence, Fenced, Resume, RelayRegister,
                                    RelayRegistered, Ping, Pong, Bye, TransferOffer, TransferAnswer,
                                    TransferReport, CellPathOpen, CellPathReady, CellGrant, ChannelPiece>;

/// About the queue pairs of one transfer or connection, which may be over by the time it is heard.
inline bool of_paths(const ControlMessage& m) {
  return std::holds_alternative<PathAddresses>(m) || std::holds_alternative<Fence>(m) ||
         std::holds_alternative<Fenced>(m) || std::holds_alternative<CellPathOpen>(m) ||
         std::holds_alternative<CellPathReady>(m) || std::holds_alternative<CellGrant>(m) ||
         std::holds_alternative<Resume>(m) || std::holds_alternative<Pong>(m) ||
         std::holds_alternative<ChannelPiece>(m);
}

}  // namespace matchrdma::host
