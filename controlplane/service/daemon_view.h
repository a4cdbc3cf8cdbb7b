#pragma once
// What the daemon tells about itself: plain numbers and texts, taken at one time. Knows no worker, no port and
// no DPDK; the daemon fills it, admin, metrics and health only read.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "controlplane/channel/worker_channel.h"
#include "controlplane/service/slot_history.h"
#include "dataplane/flow/latencies.h"
#include "dataplane/shard/shard.h"

namespace matchrdma::service {

/// One worker lcore. All numbers rise from its start, unless said otherwise.
struct WorkerView {
  uint32_t worker = 0;       ///< 0, 1, ...: the label in metrics
  uint32_t core = 0;         ///< lcore it runs on
  uint64_t busy_cycles = 0;  ///< of loops that found something to do
  uint64_t idle_cycles = 0;
  uint64_t loops = 0;   ///< rounds of run_once
  uint64_t bursts = 0;  ///< rounds that received packets
  uint64_t rx_packets = 0, rx_bytes = 0, tx_packets = 0, tx_bytes = 0;
  uint64_t tx_drops = 0;        ///< a port did not take them; PortView says why
  uint64_t handed_over = 0;     ///< software dispatch: packets that other workers received for this one
  uint64_t dispatch_drops = 0;  ///< packets for other workers whose ring was full
  uint64_t pool_buffers = 0;    ///< gauge: packet buffers of its pool
  uint64_t pool_free = 0;       ///< gauge
  uint64_t flows = 0;           ///< gauge: flow records in use
  uint64_t flow_limit = 0;      ///< gauge
  Counters counters;
  Latencies latencies;
};

enum class Dispatch : uint8_t {
  kSingle,    ///< one worker: nothing to spread
  kRss,       ///< symmetric, by the NIC
  kSoftware,  ///< by a ring to the owning worker
};

struct PortView {
  std::string name;  ///< as in the config: the label in metrics
  std::string span;  ///< whose pair it belongs to
  Side side = Side::kLan;
  std::string kind;    ///< "mlx5", "net_af_packet", ...
  std::string device;  ///< PCI address or vdev string
  std::string mac;
  uint32_t mtu = 0;
  bool link_up = false;
  bool removed = false;    ///< its interface is gone: only a restart opens another one
  uint64_t speed_bps = 0;  ///< 0: not known
  Dispatch dispatch = Dispatch::kSingle;
  uint32_t queues = 0;
  uint64_t rx_packets = 0, rx_bytes = 0, rx_missed = 0, rx_errors = 0, rx_no_buffer = 0;
  uint64_t tx_packets = 0, tx_bytes = 0, tx_errors = 0;
  uint64_t tx_full = 0, tx_link_down = 0, tx_too_long = 0;  ///< dropped before the device
};

enum class SessionState : uint8_t {
  kDown,   ///< nothing was heard of the peer
  kHello,  ///< handshake under way
  kUp,
};

/// One span and the peer at its other end.
struct PeerView {
  std::string span;  ///< as in the config: the label in metrics
  std::string address;
  SessionState session = SessionState::kDown;
  uint16_t key_id = 0;        ///< 0: sealed under none
  bool key_rotation = false;  ///< two keys are loaded
  bool ever_heard = false;
  Duration last_heard;  ///< age of the newest authentic datagram
  Duration rtt;         ///< 0: not measured yet
  uint8_t version = 0, peer_version = 0;
  std::string trouble;  ///< "", or why there is no session, in a sentence
  std::string refused;  ///< the same where HELLOs come and are not believed
  uint64_t sessions = 0;
  uint64_t restarts = 0;  ///< the peer started anew
  uint64_t hello_refused = 0;
  ChannelCounters channel;  ///< of all workers
  uint64_t no_path = 0;     ///< control datagrams given up: the next hop is not known
  uint64_t no_buffer = 0;   ///< control datagrams given up: no packet buffer
  uint64_t strange = 0;     ///< packets to our control port that are not the peer's, or cut
  uint64_t l2_dropped = 0;  ///< link-local control frames that `l2_control: drop` kept off the span
};

struct BudgetView {
  std::string span;
  uint32_t worker = 0;
  GroupKey group;
  Rate rate;
  bool from_peer = false;  ///< set by a BUDGET of the peer; otherwise by the config
  bool expired = false;    ///< no newer one came: the rate has come down, or will
  uint64_t backlog_bytes = 0;
  uint64_t admitted_bytes = 0;
};

/// The newest slots of a span's receivers.
struct SpanSlots {
  std::string span;
  Duration slot;
  int64_t now = 0;  ///< number of the slot in which this was taken
  SlotList rows;    ///< oldest first
  BudgetCounts counts;
};

struct CustodyView {
  uint32_t worker = 0;
  uint64_t soft_limit_bytes = 0, hard_limit_bytes = 0;
  uint64_t bytes = 0, peak_bytes = 0;  ///< source: owned
  uint64_t gate_bytes = 0;             ///< part of them not admitted yet
  uint64_t held_bytes = 0;             ///< destination: reorder, undelivered, unsettled
  uint64_t owned_packets = 0;
  Duration oldest;  ///< age of the oldest owned packet at the newest walk over the flows; 0: nothing is owned
};

struct FlowRow {
  FlowView flow;
  std::string span;
  uint32_t worker = 0;
};
struct UnpairedRow {
  Correlation::Report report;
  std::string span;
  uint32_t worker = 0;
};
/// Long and costly to gather, so taken less often than the rest and shared between views.
struct FlowList {
  std::vector<FlowRow> flows;
  std::vector<UnpairedRow> unpaired;
};

enum class DrainState : uint8_t {
  kNo,
  kDraining,  ///< no new custody; what is owned is being delivered
  kDrained,   ///< nothing is owned: the process may stop
};

/// One thing that must hold for /readyz.
struct Condition {
  std::string name;  ///< "ports", "peer north", ...
  bool holds = false;
  std::string text;  ///< a sentence; when it does not hold, with what to do
};

/// All of it, immutable once published.
struct DaemonView {
  std::string version;
  int64_t started_unix_s = 0;
  Duration uptime;
  uint64_t cycles_per_second = 0;  ///< of the workers' cycle counters
  uint64_t reloads = 0, reloads_refused = 0;
  DrainState drain = DrainState::kNo;
  std::vector<Condition> conditions;
  std::vector<WorkerView> workers;
  std::vector<PortView> ports;
  std::vector<PeerView> peers;
  std::vector<BudgetView> budgets;
  std::vector<SpanSlots> slots;      ///< of the spans whose budgets an estimator makes
  std::vector<CustodyView> custody;  ///< one per worker
  std::shared_ptr<const FlowList> flows;
  Duration flows_age;  ///< of that list when this was published
  std::string config_text;

  bool ready() const {
    for (const Condition& c : conditions) {
      if (!c.holds) return false;
    }
    return true;
  }
};
using ViewPtr = std::shared_ptr<const DaemonView>;

const char* session_key(SessionState s);
const char* drain_key(DrainState d);
const char* dispatch_key(Dispatch d);

}  // namespace matchrdma::service
