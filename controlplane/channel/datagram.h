#pragma once
// What a datagram of the subchannel looks like from outside (PROTOCOL 6). Its header stands in the clear and is
// sealed as associated data.
#include <optional>

#include "controlplane/channel/crypto.h"
#include "controlplane/channel/secret.h"

namespace matchrdma {

inline constexpr uint8_t kChannelVersion = 2;
/// UDP payload. Fits every span with an Ethernet MTU, so nothing of ours is ever fragmented.
inline constexpr size_t kMaxDatagramBytes = 1400;

enum class DatagramKind : uint8_t { kHello = 1, kHelloAck = 2, kControl = 3, kData = 4 };

/// The two transmit queues of messages: strict priority, or in order with the packets (H1).
enum class Queue : uint8_t { kControl, kData };
inline constexpr size_t kQueues = 2;

/// In front of sealed messages.
struct SessionHeader {
  static constexpr size_t kBytes = 24;
  Queue queue = Queue::kControl;
  uint16_t worker = 0;  ///< of the sender
  KeyId key;
  uint64_t session_tag = 0;
  uint64_t counter = 0;
  bool operator==(const SessionHeader&) const = default;

  void write(MutableBytes out) const;
  /// Empty: too short, another version, or no session datagram.
  static std::optional<SessionHeader> read(Bytes datagram);
};

/// In front of a sealed HELLO. This layout is the same in every version to come, so that a peer of another
/// version can be told by name and not only by silence.
struct HelloHeader {
  static constexpr size_t kBytes = 18;
  uint8_t version = kChannelVersion;
  bool ack = false;
  KeyId key;
  Aead::Nonce nonce{};

  void write(MutableBytes out) const;
  static std::optional<HelloHeader> read(Bytes datagram);
};

/// Messages that one datagram can take.
inline constexpr size_t kMaxPayloadBytes = kMaxDatagramBytes - SessionHeader::kBytes - Aead::kTagBytes;

}  // namespace matchrdma
