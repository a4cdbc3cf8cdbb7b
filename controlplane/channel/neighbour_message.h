#pragma once
// ARP (RFC 826, RFC 5227) and IPv6 neighbour discovery (RFC 4861) in one form, read and built for Ethernet.
#include <array>
#include <cstdint>
#include <optional>

#include "dataplane/base/bytes.h"
#include "dataplane/base/types.h"

namespace matchrdma {

using Mac = std::array<uint8_t, 6>;

/// Who speaks: our own address, and the VLAN it lives in.
struct NeighbourSelf {
  Mac mac{};
  IpAddress address;
  std::optional<uint16_t> vlan;  ///< id of the one tag; none: untagged
};

/// What one frame asks or tells. Several rules look at it, so it says also what is wrong with it.
struct NeighbourMessage {
  enum class Kind : uint8_t {
    kAsk,   ///< ARP request, neighbour solicitation
    kTell,  ///< ARP reply or announcement, neighbour advertisement
  };
  Kind kind = Kind::kAsk;
  IpAddress about;         ///< whose MAC is wanted or told
  IpAddress from;          ///< kAsk: who wants it; unspecified: a host that has no address yet
  IpAddress to;            ///< kTell: to whom
  bool to_all = false;     ///< kTell: an announcement
  std::optional<Mac> mac;  ///< kAsk: of `from`; kTell: of `about`
  Mac link_source{};       ///< Ethernet source
  bool overrides = true;   ///< false: an MAC known already is the better one (RFC 4861 4.4)
  bool sound = true;  ///< false: a check of the RFC fails; the addresses are those of the frame all the same
};

/// One frame of ours, padded to the least size of Ethernet.
struct NeighbourFrame {
  std::array<uint8_t, 96> b{};  ///< the largest is a tagged advertisement: 90
  uint32_t size = 0;            ///< 0: nothing
  Bytes bytes() const { return Bytes(b).first(size); }
};

/// Empty: no such message in the VLAN and IP version of `self`, or cut before it says whom it is about.
std::optional<NeighbourMessage> parse_neighbour(const NeighbourSelf& self, Bytes frame);

/// "Who has `wanted`?" to `mac`, or to all who may know.
void build_ask(const NeighbourSelf& self, const IpAddress& wanted, const std::optional<Mac>& mac,
               NeighbourFrame& out);
/// "I am here" to the sender of `question`, which must be sound.
void build_tell(const NeighbourSelf& self, const NeighbourMessage& question, NeighbourFrame& out);
/// "I am here" to all (RFC 5227 2.3, RFC 4861 7.2.6).
void build_announcement(const NeighbourSelf& self, NeighbourFrame& out);

/// 0.0.0.0 or ::
bool is_unspecified(const IpAddress& a);

}  // namespace matchrdma
