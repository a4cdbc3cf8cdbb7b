#pragma once
// What an operator may decide, checked. A Config is built by load_config() alone, handed out as a pointer to
// const and never changed: a reload makes another one. Defaults stand here and in dataplane/flow/limits.h,
// nowhere else.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/net.h"
#include "dataplane/base/time.h"
#include "dataplane/base/types.h"
#include "dataplane/flow/limits.h"
#include "dataplane/flow/policy.h"
#include "dataplane/flow/queue_target.h"

namespace matchrdma {

/// What a worker does when there is nothing to do.
enum class Idle : uint8_t {
  kBusy,      ///< polls on: shortest delay, a whole core
  kAdaptive,  ///< sleeps when nothing came for a while
};

/// LACP, STP, LLDP and 802.1X frames (PROTOCOL 2).
enum class L2Control : uint8_t { kForward, kDrop };

enum class LogLevel : uint8_t { kError, kWarning, kInfo, kDebug };

struct WorkersConfig {
  std::vector<uint32_t> cores;  ///< one worker on each; required
  uint32_t main_core = 0;       ///< control thread: channel, admin, metrics
  Idle idle = Idle::kBusy;
  Duration coalesce;    ///< adaptive: a worker that found nothing rests at least so long
  uint16_t burst = 32;  ///< packets taken from a queue at one time
};

/// Memory of packets and tables: hugepages or, where there are none, plain memory. One of the two, never both.
struct MemoryConfig {
  std::optional<uint64_t> hugepages;      ///< bytes; 2 GiB where neither is written
  std::optional<uint64_t> no_huge;        ///< bytes
  std::string file_prefix = "matchrdma";  ///< keeps the DPDK files of two daemons on one machine apart

  static constexpr uint64_t kDefaultBytes = 2ull << 30;
  bool huge() const { return !no_huge.has_value(); }
  uint64_t bytes() const { return no_huge ? *no_huge : hugepages.value_or(kDefaultBytes); }
};

struct LanConfig {
  std::string port;     ///< "0000:3b:00.0" (domain always written out) or "net_af_packet0,iface=eth1"
  uint16_t mtu = 9216;  ///< largest IP packet, bytes
  bool link_loss_forwarding = true;  ///< the LAN link goes down with the WAN link (H14)
  std::vector<uint8_t> pfc;          ///< priorities that are paused while custody is short of memory (C12)
};

struct WanConfig {
  std::string port;
  uint16_t mtu = 9216;
  InterfaceAddress address;          ///< own address of the control subchannel
  std::optional<IpAddress> gateway;  ///< next hop to a peer outside `address`'s prefix
  std::optional<uint16_t> vlan;      ///< 1..4094: control datagrams are tagged with it
};

/// 32 secret bytes. There is deliberately no way to print them.
struct KeyBytes {
  std::array<uint8_t, 32> b{};
  bool operator==(const KeyBytes&) const = default;
};

struct PeerKey {
  uint32_t id = 0;
  std::string file;
  KeyBytes secret;  ///< read by load_config(); zero after parse_config(), which opens no file
};

struct PeerConfig {
  IpAddress address;
  std::optional<MacAddress> mac;  ///< else learned by ARP or ND
  std::vector<PeerKey> keys;      ///< 1 or 2; two while a key is being replaced (C11)
};

/// Rate and depth of one token bucket.
struct RateConfig {
  Rate rate;
  uint64_t burst_bytes = 0;
  bool operator==(const RateConfig&) const = default;
};

/// Receivers whose budget is not the default. Every address in `receivers` has a bucket of its own.
struct BudgetConfig {
  Prefix receivers;
  std::optional<uint16_t> vlan;  ///< outer VLAN id, 0 = untagged; any where not written
  RateConfig budget{Tuning{}.budget, Tuning{}.budget_burst_bytes};
};

/// Who says how fast the peer may send to the receivers here.
enum class BudgetScheme : uint8_t {
  kFixed,   ///< nobody: the peer's `budgets` hold
  kEarned,  ///< the estimator, ESTIMATOR 6
  kPaper,   ///< the estimator as the paper has it, to compare
};

struct EstimatorConfig {
  static constexpr Duration kLeastSlot = Duration::micros(50), kMostSlot = Duration::millis(10);
  static constexpr uint64_t kLeastTarget = 4 << 10, kMostTarget = 1 << 30;

  BudgetScheme scheme = BudgetScheme::kFixed;
  Duration slot = Duration::micros(200);
  std::optional<Rate> line_rate;         ///< of the LAN port; egress.rate where not written
  std::optional<uint64_t> queue_target;  ///< bytes; 24 us of the line where not written
};

struct SpanConfig {
  std::string name;
  LanConfig lan;
  WanConfig wan;
  PeerConfig peer;
  /// What is written as `distance` (5 us a km and way) or `rtt`. Only for sizes and warnings: the proxies
  /// measure.
  std::optional<Duration> expected_rtt;
  L2Control l2_control = L2Control::kForward;
  RateConfig default_budget{Tuning{}.budget, Tuning{}.budget_burst_bytes};  ///< per receiver (PROTOCOL 1)
  std::vector<BudgetConfig> budgets;                                        ///< the first that fits counts
  RateConfig egress{Tuning{}.egress, Tuning{}.egress_burst_bytes};          ///< into the LAN, per receiver
  EstimatorConfig estimator;

  Rate line_rate() const { return estimator.line_rate.value_or(egress.rate); }
  /// Bytes that may stand in a receiver's network (ESTIMATOR 7).
  uint64_t queue_target() const { return estimator.queue_target.value_or(usual_queue_target(line_rate())); }
};

/// What a class asks of a flow. An empty list asks nothing.
struct MatchConfig {
  std::vector<Prefix> sources, destinations;
  std::vector<uint16_t> vlans;  ///< outer VLAN id, 0 = untagged
  std::vector<uint8_t> dscps;
  std::vector<std::string> spans;
};

struct ClassConfig {
  std::string name;
  MatchConfig match;
  Completion completion = Completion::kTransparent;
  uint32_t weight = 1;   ///< of a flow's share of its receiver's budget
  bool learning = true;  ///< off: only registered flows get this policy, learned ones stay transparent
};

struct AdminConfig {
  std::string socket = "/run/matchrdma/admin.sock";
  uint32_t mode = 0660;
  std::string group;  ///< owner group of the socket; empty: the daemon's own
};

/// TCP listener for REGISTER / UNREGISTER, TLS 1.3 with an external PSK. There only where it is configured.
struct RegisterConfig {
  Endpoint listen;
  std::string psk_file;  ///< lines IDENTITY HEXKEY; looked at by load_config(), read by the listener
};

struct LogConfig {
  LogLevel level = LogLevel::kInfo;
  std::string file;  ///< empty: stderr
};

/// Duty: carries every decision of the operator to who needs it. Does not know YAML, files or DPDK.
struct Config {
  std::string name = "matchrdma";  ///< of this proxy, in logs, metrics and at its peers
  WorkersConfig workers;
  MemoryConfig memory;
  std::vector<SpanConfig> spans;     ///< at least one; the index is the `port_pair` of FlowKey
  std::vector<ClassConfig> classes;  ///< the first that fits counts; what fits none is transparent (C7)
  Limits limits;
  Timing timing;             ///< and `tuning`: section `cnp` of the file stands in them
  Tuning tuning;             ///< budget, egress and slots are the span's: see tuning_of()
  std::string journal_path;  ///< empty: no journal (H13)
  std::string capture_folder = "/var/lib/matchrdma";  ///< where `ctl capture` may write
  Duration stop_patience = Duration::seconds(5);      ///< how long a daemon that is to end may drain first
  AdminConfig admin;
  std::optional<RegisterConfig> registration;
  std::optional<Endpoint> metrics =
      Endpoint{IpAddress{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1}},
               9464};  ///< none: `metrics.listen: off`
  LogConfig log;

  /// Tuning as the shards of span number `span` need it: budget, egress and slots are those of the span.
  Tuning tuning_of(size_t span) const {
    Tuning t = tuning;
    t.budget = spans[span].default_budget.rate;
    t.budget_burst_bytes = spans[span].default_budget.burst_bytes;
    t.egress = spans[span].egress.rate;
    t.egress_burst_bytes = spans[span].egress.burst_bytes;
    if (spans[span].estimator.scheme != BudgetScheme::kFixed) t.slot = spans[span].estimator.slot;
    t.queue_target = spans[span].queue_target();
    return t;
  }
};

}  // namespace matchrdma
