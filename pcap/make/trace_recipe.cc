#include "pcap/make/trace_recipe.h"

#include <string>

namespace matchrdma {
namespace {

constexpr uint64_t kMaxConnections = 16384;
constexpr uint32_t kMaxMessage = 16u << 20;
/// Every connection holds two messages at the receiver and the same in the sender's books.
constexpr uint64_t kMaxMemory = uint64_t{4} << 30;
constexpr double kMaxLoss = 0.2;
constexpr Duration kDay = Duration::seconds(86400);

Error bad(const std::string& option, const std::string& value, const std::string& remedy) {
  return Error{option + " " + value + ": " + remedy};
}
template <class T>
Error bad(const std::string& option, T value, const std::string& remedy) {
  return bad(option, std::to_string(value), remedy);
}

Result<void> check_size(const TraceRecipe& r) {
  if (r.qps < 1 || r.qps > 4096) return bad("--qps", r.qps, "choose 1 to 4096 queue pairs per pair of hosts");
  if (r.hosts < 1 || r.hosts > 250) return bad("--hosts", r.hosts, "choose 1 to 250 pairs of hosts");
  if (uint64_t{r.qps} * r.hosts > kMaxConnections)
    return bad("--hosts", r.hosts,
               "with --qps " + std::to_string(r.qps) + " makes more than " + std::to_string(kMaxConnections) +
                   " queue pairs; choose fewer of one of them");
  if (message_bytes(r) > kMaxMessage)
    return bad("--message", r.message, "too long; choose at most " + std::to_string(kMaxMessage) + " bytes");
  if (r.pattern == TracePattern::kAtomic && message_bytes(r) != 8)
    return bad("--message", r.message, "an atomic has 8 bytes; leave --message out");
  if (uint64_t{4} * message_bytes(r) * r.qps * r.hosts > kMaxMemory)
    return bad("--message", message_bytes(r),
               "with so many queue pairs takes more than 4 GiB of memory; choose a shorter message or fewer "
               "queue pairs");
  bool legal = false;
  for (const uint32_t mtu : {256, 512, 1024, 2048, 4096}) legal |= r.path_mtu == mtu;
  if (!legal) return bad("--mtu", r.path_mtu, "no path MTU of InfiniBand; choose 256, 512, 1024, 2048 or 4096");
  return {};
}

Result<void> check_time(const TraceRecipe& r) {
  if (r.iterations == 0 && r.duration.ns == 0)
    return Error{"--duration 0: without --iterations the trace would never end; give one of them"};
  for (const auto& [option, value] : {std::pair{"--compute", r.compute}, std::pair{"--duration", r.duration},
                                      std::pair{"--join-after", r.join_after}})
    if (value < Duration{} || value > kDay)
      return bad(option, std::to_string(value.ns) + "ns", "choose a time from 0 to one day");
  if (r.lan_latency < Duration{} || r.lan_latency > Duration::millis(100))
    return bad("--lan-latency", std::to_string(r.lan_latency.ns) + "ns", "choose a time from 0 to 100ms");
  if (!(r.distance_km >= 0 && r.distance_km <= 100'000))
    return bad("--distance", r.distance_km, "choose 0 to 100000 km");
  if (r.rate.bps < 1'000'000) return bad("--rate", r.rate.bps, "too slow for RDMA; choose at least 1Mbps");
  return {};
}

Result<void> check_faults(const TraceRecipe& r) {
  if (!(r.loss >= 0 && r.loss <= kMaxLoss))
    return bad("--loss", r.loss, "choose 0 to 0.2; beyond that a go-back-N sender makes no headway");
  if (!(r.ecn >= 0 && r.ecn <= 1)) return bad("--ecn", r.ecn, "choose a probability from 0 to 1");
  if (!(r.hide >= 0 && r.hide <= 1)) return bad("--hide", r.hide, "choose a fraction from 0 to 1");
  return {};
}

Result<void> check_network(const TraceRecipe& r) {
  if (r.vlans.size() > 2)
    return bad("--vlan", r.vlans.size(), "tags are too many; write one id, or outer and inner like 100,200");
  for (const uint16_t id : r.vlans)
    if (id < 1 || id > 4094) return bad("--vlan", id, "no VLAN id; choose 1 to 4094");
  return {};
}

}  // namespace

uint32_t usual_message(TracePattern pattern) {
  switch (pattern) {
    case TracePattern::kTraining:
      return 128 * 1024;
    case TracePattern::kAtomic:
      return 8;
    case TracePattern::kMixed:
      return 16 * 1024;
    default:
      return 64 * 1024;
  }
}

Result<void> check_recipe(const TraceRecipe& r) {
  for (const auto check : {check_size, check_time, check_faults, check_network})
    if (Result<void> ok = check(r); !ok) return ok;
  return {};
}

}  // namespace matchrdma
