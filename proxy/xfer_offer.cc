#include "proxy/xfer_offer.h"

#include "config/units.h"
#include "proxy/xfer_options.h"

namespace matchrdma {
namespace {

constexpr uint32_t kMostMessagesAhead = 4096;
constexpr uint64_t kLongestRoundTrip = 60'000'000'000;  // ns

}  // namespace

Result<void> fits(const host::XferSettings& s, uint32_t max_path_mtu, const std::string& whose) {
  if (s.path_mtu > max_path_mtu)
    return Error{"--mtu " + std::to_string(s.path_mtu) + " does not fit the port of " + whose +
                 ", which carries " + std::to_string(max_path_mtu) +
                 ": raise the MTU of its network interface (4200 carries 4096), or choose " +
                 std::to_string(max_path_mtu)};
  return {};
}

Result<host::TransferOffer> make_offer(const host::XferSettings& s, uint64_t bytes, uint32_t epoch) {
  const auto layout = host::transfer_layout(s, epoch);
  if (!layout) return Error{layout.error()};
  host::TransferOffer o = host::offer_of(s, epoch);
  o.bytes = bytes;
  o.layout = *layout;
  return o;
}

Result<host::XferSettings> take_offer(const host::TransferOffer& o, const host::NicLimits& nic) {
  if (o.scheme > static_cast<uint8_t>(host::XferScheme::kChannel))
    return Error{"does not know scheme number " + std::to_string(o.scheme) +
                 ": install the same release at both ends"};
  if (o.transform > 1 + static_cast<uint8_t>(host::ElementType::kF16))
    return Error{"does not know element type number " + std::to_string(o.transform) +
                 ": install the same release at both ends"};
  if (o.bytes == 0 || o.bytes > kMostXferBytes)
    return Error{"takes 1 B to " + bytes_text(kMostXferBytes) + " at a time, not " + std::to_string(o.bytes) +
                 " bytes"};
  // Beyond these it is no offer of this program, and a sum of them might not hold.
  if (o.message_bytes == 0 || o.message_bytes > kMostXferBytes || o.messages_ahead > kMostMessagesAhead ||
      o.rate == 0 || o.rate > INT64_MAX || o.round_trip > kLongestRoundTrip)
    return Error{"got an offer whose figures are out of range"};
  host::XferSettings s;
  s.scheme = static_cast<host::XferScheme>(o.scheme);
  s.copy = o.copy;
  if (o.transform != 0) s.hadamard = static_cast<host::ElementType>(o.transform - 1);
  s.message_bytes = o.message_bytes;
  s.path_mtu = o.path_mtu;
  s.code_k = o.code_k;
  s.code_m = o.code_m;
  s.messages_ahead = o.messages_ahead;
  s.rate = Rate{static_cast<int64_t>(o.rate)};
  s.round_trip = Duration{static_cast<int64_t>(o.round_trip)};
  s.paths = o.paths;
  s.proxied = o.proxied;
  if (!over_rc(s.scheme) && !nic.uc)
    return Error{"the NIC of the receiving end has no UC service: choose --transport auto or rc"};
  if (auto r = fits(s, nic.max_path_mtu, "the receiving end"); !r) return Error{r.error()};
  const auto layout = host::transfer_layout(s, o.epoch);
  if (!layout) return Error{layout.error()};
  if (*layout != o.layout)
    return Error{
        "comes to another layout of the immediate data than the sender: install the same release at "
        "both ends"};
  return s;
}

}  // namespace matchrdma
