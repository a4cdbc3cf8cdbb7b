#include "host/xfer/transfer.h"

#include <algorithm>
#include <utility>

#include "host/fabric/bytes_in.h"
#include "host/flowcell/token.h"
#include "host/sdr/spread.h"

namespace matchrdma::host {
namespace {

constexpr uint64_t kReliableChunk = 64 << 10;  // bytes of one WRITE_WITH_IMM of RC (C7)
constexpr uint32_t kLeastAhead = 4, kMostAhead = 256;
constexpr Duration kLeastGiveUp = Duration::millis(1);
constexpr int64_t kRoundTripsAhead = 4;
constexpr Duration kProxiedFloor = Duration::millis(100);
// A NIC that waits for an ACK: 4.096 us x 2^n; less than 67 ms is met by hosts that are busy alone.
constexpr uint32_t kLeastTimeout = 14, kMostTimeout = 31;

uint32_t timeout_exponent(Duration round_trip) {
  uint32_t n = kLeastTimeout;
  while (n < kMostTimeout && (int64_t{4096} << n) < 4 * round_trip.ns) ++n;
  return n;
}

}  // namespace

uint32_t messages_ahead(Rate rate, Duration round_trip, uint64_t message_bytes) {
  const double bytes = bytes_in(rate, round_trip * kRoundTripsAhead);
  const double messages = bytes / static_cast<double>(message_bytes) + 1;
  return static_cast<uint32_t>(std::clamp<double>(messages, kLeastAhead, kMostAhead));
}

Result<SdrOptions> sdr_options(const XferSettings& s, uint32_t epoch) {
  if (s.hadamard && s.scheme != XferScheme::kBestEffort)
    return Error{
        "the transform makes losses cheap, and only best effort has any: choose that scheme, or leave the "
        "transform out"};
  SdrOptions o;
  o.transport = s.scheme == XferScheme::kReliable ? Transport::kRc : Transport::kUc;
  o.connection.path_mtu = s.path_mtu;
  o.connection.timeout_exponent = timeout_exponent(s.round_trip);
  SdrShape& shape = o.shape;
  shape.epoch = epoch;
  shape.packet_bytes = s.scheme == XferScheme::kReliable ? kReliableChunk : s.path_mtu;
  shape.datagram_bytes = s.path_mtu;
  if (s.scheme == XferScheme::kErasureCode || s.scheme == XferScheme::kXor) {
    shape.code_k = s.code_k;
    shape.code_m = s.scheme == XferScheme::kXor ? 1 : s.code_m;
  }
  shape.hadamard = s.hadamard;
  for (const auto& r : {check_code(shape), check_spread(shape)})
    if (!r) return Error{r.error()};
  const uint32_t slots = (1 + s.messages_ahead) * (shape.coded() ? 2 : 1);
  const uint64_t packets = shape.packets_of(wire_bytes(shape, s.message_bytes));
  // Of a group whose data is shorter than its parity the parity is the longer part.
  const uint64_t parity = shape.coded() ? shape.packets_of(parity_bytes(shape, s.message_bytes)) : 0;
  auto layout = ImmediateLayout::of(slots, std::max(packets, parity));
  if (!layout) return Error{layout.error()};
  shape.layout = *layout;
  o.sender.rate = s.rate;
  o.sender.expected_loss = s.expected_loss;
  o.sender.first_round_trip = s.round_trip;
  o.receiver.slots = slots;
  o.receiver.copy = s.copy;
  o.receiver.slot_bytes = s.message_bytes;
  o.receiver.seed = s.hadamard_seed;
  if (s.scheme == XferScheme::kBestEffort)
    o.receiver.give_up = {std::max(s.round_trip.ns / 4, kLeastGiveUp.ns)};
  // What comes in while the caller is busy for a millisecond (H2).
  const double in_a_millisecond = static_cast<double>(s.rate.bps) / 8e3 / shape.packet_bytes;
  o.receive_queue = static_cast<uint32_t>(std::clamp(in_a_millisecond, 512.0, 16384.0));
  return o;
}

Result<FlowcellOptions> flowcell_options(const XferSettings& s) {
  if (s.paths == 0 || s.paths > kMostXferPaths)
    return Error{"paths: choose 1 to " + std::to_string(kMostXferPaths) + ", not " + std::to_string(s.paths)};
  if (s.copy || s.hadamard)
    return Error{"cells go to the application's memory as they are: leave tier c and the transform out"};
  FlowcellOptions o;
  o.shape.paths = s.paths;
  o.shape.path_mtu = s.path_mtu;
  o.shape.slots = 1 + s.messages_ahead;
  o.round_trip = s.round_trip;
  o.rate = {std::max<int64_t>(s.rate.bps / s.paths, 1)};
  if (s.proxied) o.soft_floor = kProxiedFloor;
  o.timeout_exponent = timeout_exponent(s.round_trip);
  const uint64_t cells = cells_of(s.message_bytes, o.least_cell) + 1;  // and the probe's number
  auto layout = ImmediateLayout::of(o.shape.slots, cells);
  if (!layout) return Error{layout.error()};
  o.shape.layout = *layout;
  return o;
}

Result<ChannelOptions> channel_options(const XferSettings& s, XferSide side) {
  if (s.copy || s.hadamard)
    return Error{
        "a channel moves bytes as they are, into the application's memory: leave tier c and the transform out"};
  ChannelOptions o;
  o.offers = side == XferSide::kSends;
  o.connections = 1;
  o.windows = 1;
  o.longest_message = s.message_bytes;
  o.messages_ahead = o.requests_ahead = 1 + s.messages_ahead;
  size_for_path(o, s.rate, s.round_trip);
  o.path_patience = std::max(o.path_patience, s.round_trip * 4);
  o.connection.path_mtu = s.path_mtu;
  o.connection.timeout_exponent = timeout_exponent(s.round_trip);
  return o;
}

TransferOffer offer_of(const XferSettings& s, uint32_t epoch) {
  TransferOffer o;
  o.epoch = epoch;
  o.scheme = static_cast<uint8_t>(s.scheme);
  o.copy = s.copy;
  o.transform = s.hadamard ? static_cast<uint8_t>(1 + static_cast<uint8_t>(*s.hadamard)) : uint8_t{0};
  o.message_bytes = s.message_bytes;
  o.path_mtu = s.path_mtu;
  o.code_k = s.code_k;
  o.code_m = s.code_m;
  o.messages_ahead = s.messages_ahead;
  o.rate = static_cast<uint64_t>(s.rate.bps);
  o.round_trip = static_cast<uint64_t>(s.round_trip.ns);
  o.paths = s.paths;
  o.proxied = s.proxied;
  return o;
}

TransferSend::TransferSend(MessageEnd& end, Bytes data, SourceKeys keys, uint64_t message_bytes,
                           size_t under_way)
    : end_(end), data_(data), keys_(std::move(keys)), message_bytes_(message_bytes), under_way_(under_way) {
  poll();
}

void TransferSend::poll() {
  while (const auto d = end_.take_sent()) {
    if (!d->error.empty()) error_ = d->error;
    released_bytes_ += std::min(message_bytes_, data_.size() - d->message * message_bytes_);
  }
  while (given_bytes_ < data_.size() && end_.sending() < under_way_) {
    const uint64_t bytes = std::min(message_bytes_, data_.size() - given_bytes_);
    const auto sent =
        end_.send(data_.subspan(given_bytes_, bytes), keys_.lkeys[given_bytes_ / keys_.region_bytes]);
    if (!sent) {
      error_ = "the message at byte " + std::to_string(given_bytes_) + ": " + sent.error();
      return;
    }
    given_bytes_ += bytes;
  }
  if (error_.empty()) error_ = end_.error();
}

TransferReceive::TransferReceive(MessageEnd& end, MutableBytes data, uint64_t message_bytes)
    : end_(end), data_(data), message_bytes_(message_bytes) {}

void TransferReceive::poll(Instant now) {
  while (const auto d = end_.take_received()) {
    received_bytes_ += d->length;
    missing_bytes_ += d->missing;
  }
  while (granted_bytes_ < data_.size()) {
    const uint64_t bytes = std::min(message_bytes_, data_.size() - granted_bytes_);
    auto posted = end_.receive_post(data_.subspan(granted_bytes_, bytes), now);
    if (!posted) error_ = posted.error();
    if (!posted || !*posted) break;
    granted_bytes_ += bytes;
  }
  if (error_.empty()) error_ = end_.error();
}

}  // namespace matchrdma::host
