#pragma once
// Strong types of the protocol. A 24-bit wire number never meets an unwrapped one by accident.
#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <cstring>

namespace matchrdma {

/// 24-bit packet sequence number as it stands in the BTH (IBA 9.2.5).
struct Psn {
  static constexpr uint32_t kMask = 0xffffff;
  uint32_t v = 0;
  constexpr bool operator==(const Psn&) const = default;
};

/// 24-bit message sequence number of the AETH (IBA 9.7.5.1).
struct Msn {
  uint32_t v = 0;
  constexpr bool operator==(const Msn&) const = default;
};

/// 24-bit queue pair number.
struct Qpn {
  uint32_t v = 0;
  constexpr auto operator<=>(const Qpn&) const = default;
};

/// PSN unwrapped to 64 bits inside one generation of a flow: compared with plain integer order.
using Seq = int64_t;

/// Unwraps a 24-bit number to the 64-bit value nearest to `near` (window of +- 2^23).
constexpr Seq unwrap24(uint32_t wire, Seq near) {
  const int64_t delta = static_cast<int32_t>((wire - static_cast<uint32_t>(near)) << 8) >> 8;
  return near + delta;
}
constexpr Psn wire_psn(Seq s) { return Psn{static_cast<uint32_t>(s) & Psn::kMask}; }
constexpr Msn wire_msn(int64_t m) { return Msn{static_cast<uint32_t>(m) & 0xffffffu}; }

/// Never-reused number of one generation of a flow.
struct FlowId {
  uint64_t v = 0;
  constexpr auto operator<=>(const FlowId&) const = default;
};

/// Which side of the proxy a port stands on.
enum class Side : uint8_t { kLan, kWan };

/// Bits per second.
struct Rate {
  int64_t bps = 0;
  constexpr auto operator<=>(const Rate&) const = default;
};

/// IPv4 (mapped as ::ffff:a.b.c.d) or IPv6 address, network order.
struct IpAddress {
  std::array<uint8_t, 16> b{};
  constexpr auto operator<=>(const IpAddress&) const = default;
  /// The address as two words, in the byte order of the machine: to compare and to hash.
  std::array<uint64_t, 2> words() const { return std::bit_cast<std::array<uint64_t, 2>>(b); }
  bool operator==(const IpAddress& o) const { return words() == o.words(); }
  static IpAddress v4(const uint8_t* p) {
    IpAddress a;
    a.b[10] = a.b[11] = 0xff;
    std::memcpy(a.b.data() + 12, p, 4);
    return a;
  }
  static IpAddress v6(const uint8_t* p) {
    IpAddress a;
    std::memcpy(a.b.data(), p, 16);
    return a;
  }
  bool is_v4() const {
    static constexpr uint8_t kPrefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    return std::memcmp(b.data(), kPrefix, 12) == 0;
  }
};

/// 256, 512, 1024, 2048 or 4096 (IBA 9.7.2).
constexpr bool legal_path_mtu(uint32_t bytes) {
  return bytes >= 256 && bytes <= 4096 && (bytes & (bytes - 1)) == 0;
}

}  // namespace matchrdma
