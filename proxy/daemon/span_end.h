#pragma once
// One worker's end of one span: the Shard, its sealed channel, and what stands between them and two ports.
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "controlplane/channel/neighbour.h"
#include "controlplane/channel/worker_channel.h"
#include "dataplane/shard/shard.h"
#include "proxy/daemon/budget_lane.h"
#include "proxy/daemon/capture_tap.h"
#include "proxy/daemon/policy_table.h"

namespace matchrdma::daemon {

struct SpanEndConfig {
  uint16_t worker = 0;
  ShardConfig shard;
  NeighbourConfig neighbour;
  bool drop_l2_control = false;   ///< `l2_control: drop`
  BudgetLane* budgets = nullptr;  ///< where an estimator makes them; outlives the span end
};

/// What a span end cannot do itself.
struct SpanEndHooks {
  /// A HELLO or its answer, for the control thread.
  std::function<void(Bytes)> hello;
  /// A datagram for this worker of the same span.
  std::function<void(uint16_t, Bytes)> other_worker;
  /// Records are in the budgets' lane; urgent: of a slot that goes on.
  std::function<void(bool urgent)> slots_seen;
  /// Must be kept before anything that came with it leaves (H13); may be empty.
  std::function<void(const JournalRecord&)> journal;
};

struct SpanEndCounters {
  uint64_t no_path = 0;    ///< datagrams given up: the peer's MAC is not known yet
  uint64_t broken = 0;     ///< to our control address, but not from the peer or cut
  uint64_t no_buffer = 0;  ///< datagrams given up: the pool is empty
  uint64_t l2_dropped = 0;
};

/// Duty: turns received packets into what leaves, in the order in which it must leave. Does not know ports or
/// clocks. Packets in, `run`, queues out; used by one thread.
class SpanEnd : private DatagramSink {
 public:
  SpanEnd(const SpanEndConfig& config, PacketPool& pool, SpanEndHooks hooks);
  SpanEnd(const SpanEnd&) = delete;

  /// True, of both: run() must come before the next packet. A message of the data queue speaks of the packets
  /// before it.
  bool from_lan(PacketRef p) { return take(Side::kLan, std::move(p)); }
  bool from_wan(PacketRef p, Instant now);
  /// A datagram that another worker has received for this one.
  void from_other_worker(Bytes datagram) { channel_.receive(datagram, messages_); }
  /// A datagram of the control thread (HELLO).
  void send_hello(Bytes datagram) { datagram_out(Queue::kControl, datagram); }

  bool has_input() const {
    return !burst_.empty() || !messages_.empty() ||
           (config_.budgets != nullptr && !config_.budgets->budgets.empty());
  }
  bool due(Instant now) const { return next_wakeup() <= now; }
  void run(Instant now);
  Instant next_wakeup() const;

  /// What leaves, priority lanes first. Taken and emptied by the caller.
  struct Lanes {
    std::vector<PacketRef> control, bulk;
  };
  Lanes& lan() { return lan_; }
  Lanes& wan() { return wan_; }

  // Orders of the control thread, run by the worker.
  void set_session(const SessionSnapshot& s, bool peer_started, Instant now);
  void set_policy(std::shared_ptr<const PolicyTable> policy, Instant now);
  void set_tuning(const Timing& timing, const Tuning& tuning, Instant now);
  void poison_journaled(const JournalRecord& r, Instant now);
  Registered register_qp(const Registration& r, Instant now);
  void unregister_qp(const Registration& r, Instant now);
  void drain(bool on, Instant now);
  bool drain_flow(const FlowKey& key, Instant now);
  /// Every flow of now that `transparent` calls so.
  void drain_flows(const FlowPolicy& transparent, Instant now);
  void set_l2_control(bool drop) { config_.drop_l2_control = drop; }
  /// Empty ends it.
  void set_capture(std::optional<SpanCapture> capture) { capture_ = std::move(capture); }

  const Shard& shard() const { return shard_; }
  const WorkerChannel& channel() const { return channel_; }
  const Neighbour& neighbour() const { return neighbour_; }
  const SpanEndCounters& counters() const { return n_; }
  /// Instant of the newest authentic datagram.
  Instant last_heard() const { return last_heard_; }
  /// The path found by another worker.
  void set_path(const ControlPath& path) { path_ = path; }
  const std::optional<ControlPath>& path() const { return path_; }

 private:
  void datagram(Queue queue, Bytes udp_payload) override { datagram_out(queue, udp_payload); }
  void datagram_out(Queue queue, Bytes udp_payload);
  bool take(Side side, PacketRef p);
  bool control(Bytes payload, Instant now);
  Instant next_question() const;
  Instant next_probe() const;
  void neighbour_frame(const NeighbourFrame& f);
  void exchange_budgets();
  void emit(Instant now);

  SpanEndConfig config_;
  PacketPool& pool_;
  SpanEndHooks hooks_;
  std::shared_ptr<const PolicyTable> policy_;
  Shard shard_;
  WorkerChannel channel_;
  Neighbour neighbour_;
  std::optional<ControlPath> path_;
  Outbox out_;
  std::vector<RxItem> burst_;
  std::vector<Message> messages_;
  Lanes lan_, wan_;
  std::optional<SpanCapture> capture_;
  SpanEndCounters n_;
  Instant last_heard_ = Instant::never();
  Instant probe_at_;
};

}  // namespace matchrdma::daemon
