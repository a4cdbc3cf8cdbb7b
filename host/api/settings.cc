#include "host/api/settings.h"

#include <utility>

namespace matchrdma::host {
namespace {

constexpr uint32_t kMostAhead = 4096;
constexpr uint64_t kMostMessage = uint64_t{1} << 32;
constexpr int64_t kMostRoundTrip = 60'000'000'000;  // ns
constexpr uint32_t kMostModelPaths = 64;

Result<void> check(const mrdma_options& o) {
  if (o.scheme < MRDMA_SELECTIVE_REPEAT || o.scheme > MRDMA_CHANNEL)
    return Error{"scheme " + std::to_string(o.scheme) + ": no such scheme; see enum mrdma_scheme"};
  if (o.transport < MRDMA_TRANSPORT_AUTO || o.transport > MRDMA_TRANSPORT_RC)
    return Error{"transport " + std::to_string(o.transport) + ": no such transport; see enum mrdma_transport"};
  if (o.path_mtu != 0 && !legal_path_mtu(o.path_mtu))
    return Error{"path_mtu " + std::to_string(o.path_mtu) + ": choose 256, 512, 1024, 2048 or 4096"};
  if (o.messages_ahead > kMostAhead || o.message_bytes > kMostMessage)
    return Error{"messages_ahead is " + std::to_string(kMostAhead) + " at most, message_bytes 2^32"};
  if (o.transform < MRDMA_NO_TRANSFORM || o.transform > MRDMA_F16)
    return Error{"transform " + std::to_string(o.transform) +
                 ": no such type of number; see enum mrdma_element"};
  if (!(o.expected_loss >= 0 && o.expected_loss <= 0.5)) return Error{"expected_loss: choose 0 to 0.5"};
  if (o.round_trip_ns < 0 || o.round_trip_ns > kMostRoundTrip)
    return Error{"round_trip_ns " + std::to_string(o.round_trip_ns) + ": choose 0 to 60 s"};
  if ((o.paths != 0 || o.proxied != 0) && o.scheme != MRDMA_CELLS)
    return Error{"paths and proxied are of MRDMA_CELLS alone"};
  if (o.offers != 0 && o.scheme != MRDMA_CHANNEL) return Error{"offers is of MRDMA_CHANNEL alone"};
  return {};
}

}  // namespace

Result<XferSettings> read_settings(const mrdma_options& o) {
  if (auto r = check(o); !r) return Error{r.error()};
  XferSettings s;
  s.scheme = static_cast<XferScheme>(o.scheme);
  if (o.path_mtu != 0) s.path_mtu = o.path_mtu;
  if (o.message_bytes != 0) s.message_bytes = o.message_bytes;
  if (o.code_k != 0) s.code_k = o.code_k;
  if (o.code_m != 0) s.code_m = o.code_m;
  if (o.messages_ahead != 0) s.messages_ahead = o.messages_ahead;
  if (o.bits_per_second != 0) s.rate = {static_cast<int64_t>(std::min<uint64_t>(o.bits_per_second, INT64_MAX))};
  if (o.expected_loss > 0) s.expected_loss = o.expected_loss;
  if (o.round_trip_ns > 0) s.round_trip = {o.round_trip_ns};
  s.copy = o.copy != 0;
  if (o.transform != MRDMA_NO_TRANSFORM) s.hadamard = static_cast<ElementType>(o.transform - 1);
  s.hadamard_seed = o.transform_seed;
  s.transport = static_cast<XferTransport>(o.transport);
  if (o.paths != 0) s.paths = o.paths;
  s.proxied = o.proxied != 0;
  return s;
}

Result<void> check_model(const mrdma_model_options& o) {
  if (!(o.loss >= 0 && o.loss <= 0.5)) return Error{"model: loss must be 0 to 0.5"};
  if (!(o.gigabits >= 0 && o.gigabits <= 1e6) || o.one_way_ns < 0 || o.one_way_ns > kMostRoundTrip)
    return Error{"model: gigabits must be 0 to 1e6, one_way_ns 0 to 60 s"};
  if (o.without_uc < 0 || o.without_uc > 3 || o.paths > kMostModelPaths)
    return Error{"model: without_uc is 0 to 3, paths at most " + std::to_string(kMostModelPaths)};
  return {};
}

std::string difference(const TransferOffer& here, const TransferOffer& there) {
  const std::pair<const char*, std::pair<uint64_t, uint64_t>> all[] = {
      {"scheme", {here.scheme, there.scheme}},
      {"epoch", {here.epoch, there.epoch}},
      {"path_mtu", {here.path_mtu, there.path_mtu}},
      {"message_bytes", {here.message_bytes, there.message_bytes}},
      {"messages_ahead", {here.messages_ahead, there.messages_ahead}},
      {"paths", {here.paths, there.paths}}};
  for (const auto& [name, values] : all)
    if (values.first != values.second)
      return "the two ends have different options: " + std::string(name) + " is " +
             std::to_string(values.first) + " here and " + std::to_string(values.second) +
             " there; give both the same";
  return {};
}

}  // namespace matchrdma::host
