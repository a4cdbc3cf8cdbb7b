#include "controlplane/service/metric_list.h"

#include <algorithm>

namespace matchrdma::service {
namespace {

constexpr auto kC = CounterKind::kCounter;
constexpr auto kG = CounterKind::kGauge;
using D = DaemonView;
using W = WorkerView;
using K = CustodyView;
using P = PortView;
using S = PeerView;
using B = BudgetSum;

// clang-format off
constexpr std::array kDaemon{
  MetricOf<D>{kG, "start_time_seconds", "seconds", "Unix time at which the daemon started", [](const D& v) { return static_cast<double>(v.started_unix_s); }},
  MetricOf<D>{kG, "ready", "", "1 if every condition of /readyz holds", [](const D& v) { return v.ready() ? 1.0 : 0.0; }},
  MetricOf<D>{kG, "drain_state", "", "0: no drain, 1: draining, 2: drained", [](const D& v) { return plain(static_cast<uint64_t>(v.drain)); }},
  MetricOf<D>{kC, "config_reloads", "events", "Configurations applied since start", [](const D& v) { return plain(v.reloads); }},
  MetricOf<D>{kC, "config_reloads_refused", "events", "Configurations refused as a whole", [](const D& v) { return plain(v.reloads_refused); }},
  MetricOf<D>{kG, "worker_clock_hertz", "hertz", "Cycles per second of the counters that end in cycles_total", [](const D& v) { return plain(v.cycles_per_second); }},
};

constexpr std::array kWorker{
  MetricOf<W>{kC, "worker_busy_cycles", "cycles", "Cycles of loops that found something to do", [](const W& v) { return plain(v.busy_cycles); }},
  MetricOf<W>{kC, "worker_idle_cycles", "cycles", "Cycles of loops that found nothing", [](const W& v) { return plain(v.idle_cycles); }},
  MetricOf<W>{kC, "worker_loops", "events", "Rounds of the worker's loop", [](const W& v) { return plain(v.loops); }},
  MetricOf<W>{kC, "worker_bursts", "events", "Rounds that received packets", [](const W& v) { return plain(v.bursts); }},
  MetricOf<W>{kC, "worker_received_packets", "packets", "Packets a worker took from its queues", [](const W& v) { return plain(v.rx_packets); }},
  MetricOf<W>{kC, "worker_received_bytes", "bytes", "Bytes of these", [](const W& v) { return plain(v.rx_bytes); }},
  MetricOf<W>{kC, "worker_sent_packets", "packets", "Packets a worker put into TX queues", [](const W& v) { return plain(v.tx_packets); }},
  MetricOf<W>{kC, "worker_sent_bytes", "bytes", "Bytes of these", [](const W& v) { return plain(v.tx_bytes); }},
  MetricOf<W>{kC, "worker_send_drops", "packets", "Packets that a port did not take; matchrdma_port_send_ counters say why", [](const W& v) { return plain(v.tx_drops); }},
  MetricOf<W>{kC, "worker_handed_over_packets", "packets", "Packets that other workers received for this one", [](const W& v) { return plain(v.handed_over); }},
  MetricOf<W>{kC, "worker_dispatch_drops", "packets", "Packets for other workers, dropped because their ring was full", [](const W& v) { return plain(v.dispatch_drops); }},
  MetricOf<W>{kG, "pool_buffers", "", "Packet buffers of the worker's pool", [](const W& v) { return plain(v.pool_buffers); }},
  MetricOf<W>{kG, "pool_free_buffers", "", "Packet buffers that are free", [](const W& v) { return plain(v.pool_free); }},
  MetricOf<W>{kG, "flow_records", "", "Flow records in use", [](const W& v) { return plain(v.flows); }},
  MetricOf<W>{kG, "flow_record_limit", "", "Flow records there are; beyond them flows stay transparent", [](const W& v) { return plain(v.flow_limit); }},
};

// What is in custody now, and its peak, are counters of the shard.
constexpr std::array kCustody{
  MetricOf<K>{kG, "custody_soft_limit_bytes", "bytes", "Above it senders are slowed down", [](const K& v) { return plain(v.soft_limit_bytes); }},
  MetricOf<K>{kG, "custody_hard_limit_bytes", "bytes", "Above it only a reserve per flow is accepted", [](const K& v) { return plain(v.hard_limit_bytes); }},
  MetricOf<K>{kG, "custody_oldest_age_seconds", "seconds", "Age of the oldest owned packet when its flow was looked at, up to 2 s ago; 0 if nothing is owned", [](const K& v) { return seconds(v.oldest); }},
};

constexpr std::array kPort{
  MetricOf<P>{kG, "port_link_up", "", "1 if the link is up", [](const P& v) { return v.link_up ? 1.0 : 0.0; }},
  MetricOf<P>{kG, "port_speed_bytes_per_second", "bytes/s", "Link speed; 0 if the port does not tell", [](const P& v) { return plain(v.speed_bps) / 8; }},
  MetricOf<P>{kG, "port_mtu_bytes", "bytes", "MTU of the port", [](const P& v) { return plain(v.mtu); }},
  MetricOf<P>{kC, "port_received_packets", "packets", "Packets the port received", [](const P& v) { return plain(v.rx_packets); }},
  MetricOf<P>{kC, "port_received_bytes", "bytes", "Bytes the port received", [](const P& v) { return plain(v.rx_bytes); }},
  MetricOf<P>{kC, "port_receive_missed_packets", "packets", "Packets lost because no worker took them in time", [](const P& v) { return plain(v.rx_missed); }},
  MetricOf<P>{kC, "port_receive_errors", "packets", "Packets the port received broken", [](const P& v) { return plain(v.rx_errors); }},
  MetricOf<P>{kC, "port_receive_no_buffer", "events", "Receives that found no packet buffer", [](const P& v) { return plain(v.rx_no_buffer); }},
  MetricOf<P>{kC, "port_sent_packets", "packets", "Packets the port sent", [](const P& v) { return plain(v.tx_packets); }},
  MetricOf<P>{kC, "port_sent_bytes", "bytes", "Bytes the port sent", [](const P& v) { return plain(v.tx_bytes); }},
  MetricOf<P>{kC, "port_send_errors", "packets", "Packets the device could not send", [](const P& v) { return plain(v.tx_errors); }},
  MetricOf<P>{kC, "port_send_queue_full_packets", "packets", "Packets dropped because the TX queue stayed full", [](const P& v) { return plain(v.tx_full); }},
  MetricOf<P>{kC, "port_send_link_down_packets", "packets", "Packets dropped because the interface was off", [](const P& v) { return plain(v.tx_link_down); }},
  MetricOf<P>{kC, "port_send_too_long_packets", "packets", "Packets dropped because they were longer than the port's MTU", [](const P& v) { return plain(v.tx_too_long); }},
};

constexpr bool rtt_known(const S& v) { return v.rtt.ns > 0; }
constexpr bool heard(const S& v) { return v.ever_heard; }

constexpr std::array kPeer{
  MetricOf<S>{kG, "peer_session_up", "", "1 if a session with the peer is up", [](const S& v) { return v.session == SessionState::kUp ? 1.0 : 0.0; }},
  MetricOf<S>{kG, "peer_round_trip_seconds", "seconds", "Round trip of the span, as measured by probes", [](const S& v) { return seconds(v.rtt); }, rtt_known},
  MetricOf<S>{kG, "peer_last_heard_age_seconds", "seconds", "Age of the newest authentic datagram of the peer", [](const S& v) { return seconds(v.last_heard); }, heard},
  MetricOf<S>{kG, "peer_key_rotation", "", "1 while two keys are loaded", [](const S& v) { return v.key_rotation ? 1.0 : 0.0; }},
  MetricOf<S>{kC, "peer_sessions", "events", "Sessions agreed on with the peer", [](const S& v) { return plain(v.sessions); }},
  MetricOf<S>{kC, "peer_restarts", "events", "Times the peer started anew", [](const S& v) { return plain(v.restarts); }},
  MetricOf<S>{kC, "peer_hellos_refused", "packets", "Handshake datagrams that were not answered or not believed", [](const S& v) { return plain(v.hello_refused); }},
  MetricOf<S>{kC, "channel_no_path_datagrams", "packets", "Control datagrams given up because the next hop is not known", [](const S& v) { return plain(v.no_path); }},
  MetricOf<S>{kC, "channel_no_buffer_datagrams", "packets", "Control datagrams given up because no packet buffer was free", [](const S& v) { return plain(v.no_buffer); }},
  MetricOf<S>{kC, "channel_strange_packets", "packets", "Packets to the control port of the proxy's address that are not the peer's, or cut", [](const S& v) { return plain(v.strange); }},
  MetricOf<S>{kC, "l2_control_dropped_packets", "packets", "Link-local control frames kept off the span (l2_control: drop)", [](const S& v) { return plain(v.l2_dropped); }},
  MetricOf<S>{kC, "channel_sealed_datagrams", "packets", "Control datagrams sent", [](const S& v) { return plain(v.channel.sealed); }},
  MetricOf<S>{kC, "channel_opened_datagrams", "packets", "Control datagrams received, authentic and new", [](const S& v) { return plain(v.channel.opened); }},
  MetricOf<S>{kC, "channel_no_session_messages", "events", "Messages given up because no session was up", [](const S& v) { return plain(v.channel.no_session); }},
  MetricOf<S>{kC, "channel_unsealed_datagrams", "packets", "Datagrams given up because their session went away", [](const S& v) { return plain(v.channel.unsealed); }},
  MetricOf<S>{kC, "channel_unencodable_messages", "events", "Messages that broke a rule of their layout", [](const S& v) { return plain(v.channel.unencodable); }},
  MetricOf<S>{kC, "channel_truncated_datagrams", "packets", "Datagrams of impossible length", [](const S& v) { return plain(v.channel.truncated); }},
  MetricOf<S>{kC, "channel_foreign_datagrams", "packets", "Datagrams of another version, kind or worker", [](const S& v) { return plain(v.channel.foreign); }},
  MetricOf<S>{kC, "channel_stale_session_datagrams", "packets", "Datagrams of a session that is over or not known yet", [](const S& v) { return plain(v.channel.stale_session); }},
  MetricOf<S>{kC, "channel_bad_seal_datagrams", "packets", "Datagrams that are not authentic", [](const S& v) { return plain(v.channel.bad_seal); }},
  MetricOf<S>{kC, "channel_replayed_datagrams", "packets", "Datagrams that came before", [](const S& v) { return plain(v.channel.replayed); }},
  MetricOf<S>{kC, "channel_broken_framing_datagrams", "packets", "Authentic datagrams whose message lengths do not add up", [](const S& v) { return plain(v.channel.broken_framing); }},
  MetricOf<S>{kC, "channel_wrong_queue_messages", "events", "Messages that came in the other queue's datagram", [](const S& v) { return plain(v.channel.wrong_queue); }},
  MetricOf<S>{kC, "channel_unknown_messages", "events", "Messages of a type that is not known here", [](const S& v) { return plain(v.channel.messages.unknown_type); }},
  MetricOf<S>{kC, "channel_malformed_messages", "events", "Messages that break a rule of their layout", [](const S& v) { return plain(v.channel.messages.malformed); }},
};
// A counter that is new in the channel belongs into this list.
static_assert(sizeof(ChannelCounters) == 14 * sizeof(uint64_t));

constexpr std::array kBudget{
  MetricOf<B>{kG, "budget_groups", "", "Receivers that have a budget", [](const B& v) { return plain(v.groups); }},
  MetricOf<B>{kG, "budget_groups_driven_by_peer", "", "Part of them whose rate the peer has set, and that has not expired", [](const B& v) { return plain(v.from_peer); }},
  MetricOf<B>{kG, "budget_rate_bytes_per_second", "bytes/s", "Sum of their rates", [](const B& v) { return plain(v.rate_bps) / 8; }},
  MetricOf<B>{kG, "budget_backlog_bytes", "bytes", "Accepted packets that wait for their budget", [](const B& v) { return plain(v.backlog_bytes); }},
  MetricOf<B>{kC, "budget_admitted_bytes", "bytes", "Bytes the budgets have admitted to the span", [](const B& v) { return plain(v.admitted_bytes); }},
};
// clang-format on

}  // namespace

std::string metric_name(const char* key, CounterKind kind) {
  return std::string("matchrdma_") + key + (kind == kC ? "_total" : "");
}
const char* metric_type(CounterKind kind) { return kind == kC ? "counter" : "gauge"; }

std::vector<BudgetSum> budget_sums(const DaemonView& v) {
  std::vector<BudgetSum> sums;
  for (const PeerView& p : v.peers) sums.push_back({p.span});
  for (const BudgetView& b : v.budgets) {
    auto it = std::find_if(sums.begin(), sums.end(), [&b](const BudgetSum& s) { return s.span == b.span; });
    if (it == sums.end()) it = sums.insert(it, BudgetSum{b.span});
    ++it->groups;
    it->from_peer += b.from_peer && !b.expired ? 1 : 0;
    it->rate_bps += static_cast<uint64_t>(b.rate.bps);
    it->backlog_bytes += b.backlog_bytes;
    it->admitted_bytes += b.admitted_bytes;
  }
  return sums;
}

std::span<const MetricOf<DaemonView>> daemon_metrics() { return kDaemon; }
std::span<const MetricOf<WorkerView>> worker_metrics() { return kWorker; }
std::span<const MetricOf<CustodyView>> custody_metrics() { return kCustody; }
std::span<const MetricOf<PortView>> port_metrics() { return kPort; }
std::span<const MetricOf<PeerView>> peer_metrics() { return kPeer; }
std::span<const MetricOf<BudgetSum>> budget_metrics() { return kBudget; }

}  // namespace matchrdma::service
