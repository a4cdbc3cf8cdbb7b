#pragma once
// Messages to bytes and back: type (8 bits), length of the body (24 bits), body. Framing, and the first six
// bytes of a HELLO's body (a magic word and the version), stay as they are in every version.
#include <optional>
#include <string>
#include <vector>

#include "host/control/control_message.h"

namespace matchrdma::host {

inline constexpr size_t kControlHeaderBytes = 4;
inline constexpr size_t kMaxControlBody = 20 << 10;
/// A peer need not take more paths in one message.
inline constexpr size_t kMaxPathAddresses = 256;
inline constexpr size_t kMaxFenceDetail = 8 << 10;
inline constexpr size_t kMaxChannelPiece = (16 << 10) + 64;  ///< a fragment and its header
inline constexpr size_t kMaxControlText = 256;

/// What fits into a text of a message of it.
std::string sayable(std::string text);

/// Appends the frame to `out`; false, and nothing appended, when the message breaks a rule of its layout: out
/// of range, longer than a field holds, text that is not printable ASCII.
bool encode(const ControlMessage& m, std::vector<uint8_t>& out);

struct ControlFrame {
  uint8_t type = 0;
  uint32_t body = 0;  ///< bytes
};
/// Of bytes that begin with a frame; nothing where there are fewer than kControlHeaderBytes.
std::optional<ControlFrame> frame_at(Bytes bytes);
bool known(uint8_t type);

/// Nothing when the body is not exactly one that encode() makes. A HELLO of another version is returned with
/// its version alone.
std::optional<ControlMessage> decode(uint8_t type, Bytes body);

}  // namespace matchrdma::host
