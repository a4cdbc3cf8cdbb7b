#pragma once
// One core's worth of proxy: flows, custody, gates, timers. Pure: no clock, socket, thread, file or DPDK.
#include <memory>
#include <optional>
#include <span>

#include "dataplane/flow/correlation.h"
#include "dataplane/flow/counters.h"
#include "dataplane/flow/latencies.h"
#include "dataplane/flow/learned_by.h"
#include "dataplane/flow/limits.h"
#include "dataplane/flow/outbox.h"
#include "dataplane/flow/slot_record.h"
#include "dataplane/flow/told_budget.h"
#include "dataplane/source/pause.h"

namespace matchrdma {

struct RxItem {
  Side side = Side::kLan;
  PacketRef packet;
};

struct ShardConfig {
  Limits limits;
  Timing timing;
  Tuning tuning;
  uint32_t instance =
      1;  ///< high half of every flow id this shard gives out: never the same twice over restarts
  PauseConfig pause;
  const FlowPolicy* policy = nullptr;  ///< none: `tuning` for every flow and receiver. Must outlive the shard.
};

/// What a snapshot tells about one flow.
struct FlowView {
  FlowKey key;
  Qpn sender_qpn;
  bool source = false;  ///< this proxy is the source of the flow
  const char* state = "";
  bool activated = false;  ///< pseudo-ACKs were allowed at some time (source)
  bool untold = false;     ///< failed, and its sender has asked nothing since that could be answered (source)
  LearnedBy learned_by = LearnedBy::kRegistration;
  Seq base = 0, epsn = 0, confirmed_end = 0;
  uint64_t owned_packets = 0;
  uint64_t behind_gap = 0;  ///< kept behind a gap of the LAN
  Instant oldest_owned =
      Instant::never();  ///< when the oldest owned packet was accepted; never: nothing is owned
};

/// Every `state` that a FlowView can have, at the source and at the destination.
std::vector<std::string> flow_state_names();

/// What a snapshot tells about one budget group at its source.
struct GroupView {
  GroupKey key;
  Rate rate;
  bool from_peer = false;       ///< by its BUDGET; otherwise by the policy
  bool expired = false;         ///< that BUDGET is over: the rate is what it has come down to
  uint64_t backlog_bytes = 0;   ///< accepted, not admitted yet
  uint64_t admitted_bytes = 0;  ///< since start, repairs included
};

/// What has become of a registration.
enum class Registered : uint8_t {
  kYes,
  kNoRoom,        ///< the flow table is full
  kOtherPartner,  ///< one of the QPs is known with another one
  kEnding,        ///< the pair is being unregistered
  kNonsense,      ///< no path MTU that there is, a QPN above 24 bits, or both ends the same QP
};

/// Call contract: `run_once` takes every packet of `burst` (moves them out), reads `messages`, appends to
/// `out`, which must have been cleared and built for at least burst.size() + messages.size() inputs. `now`
/// never goes back. Call it again at `next_wakeup()` at the latest; an Instant not after `now` means "at once".
class Shard {
 public:
  Shard(const ShardConfig& config, PacketPool& pool);
  ~Shard();
  /// Bytes that a shard with these limits takes at most, packets aside; about.
  static uint64_t table_bytes(const Limits& limits);

  void run_once(std::span<RxItem> burst, std::span<const Message> messages, Instant now, Outbox& out);
  Instant next_wakeup() const;

  /// Admin: learn a QP pair. `local_a`: end `a` stands on this proxy's LAN. The peer is told (REGISTER);
  /// idempotent.
  Registered register_qp(const Registration& reg, bool local_a, Instant now, Outbox& out);
  /// True when REGISTER was answered by the peer, every flow with a starting PSN is active at its source, and
  /// nothing is left of a life before.
  bool registered(const Registration& reg) const;

  /// Admin: the host has fenced that QP. What both proxies own of it is destroyed and the pair forgotten; the
  /// peer is told (UNREGISTER). Idempotent.
  void unregister_qp(const Registration& reg, bool local_a, Instant now, Outbox& out);
  /// True when no UNREGISTER of this pair waits for the peer's answer.
  bool unregistered(const Registration& reg) const;

  /// The peer has a new session. `started`: it has lost its memory, or is seen for the first time
  /// (PROTOCOL 8). What is owned is opened again there and resent; what it owned of flows to this side is gone.
  void peer_session(bool started, Instant now, Outbox& out);

  /// Asks the policy anew for every flow; a flow that may not be proxied any more drains first. `policy`
  /// replaces the one before, which must live until then.
  void set_policy(const FlowPolicy* policy, Instant now, Outbox& out);
  /// Times and tuning from now on; what already waits for a deadline keeps it.
  void set_tuning(const Timing& timing, const Tuning& tuning, Instant now, Outbox& out);
  /// Flows to one key drain and become transparent; later ones are as the policy says. False: not known here.
  bool drain_flow(const FlowKey& key, Instant now, Outbox& out);
  /// The same for every flow of now that `transparent` calls so, which decides nothing about later ones.
  void drain_flows(const FlowPolicy& transparent, Instant now, Outbox& out);
  /// No new custody, here and at the peer (PROTOCOL 8, drain); flows become transparent as they are confirmed.
  /// False ends it.
  void drain(bool on, Instant now, Outbox& out);
  /// Nothing is owned here nor, of flows to this side, at the peer.
  bool drained() const;

  /// Round trip of the span: windowed minimum of the PROBEs; `initial_rtt` before the first.
  Duration rtt() const;
  /// rtt() comes from an answered PROBE; until then it is what the timing expects.
  bool rtt_measured() const;

  /// A record of the journal that the last life of this proxy left (H13): if it promised anything, the QP is
  /// failed, both ways, on its next packets. False when the flow table has no room.
  bool poison_journaled(const JournalRecord& r, Instant now, Outbox& out);

  /// Records of the receivers' slots that ended with the last run_once(); until the next one. Empty without
  /// `tuning.slot`.
  std::span<const GroupSlot> closed_slots() const;
  /// In a slot that goes on, on a span so short that it helps: what was seen of receivers that are strained.
  std::span<const GroupSlot> looked_slots() const;
  /// What the estimator makes of them, for the peer. False: the outbox has no room for it.
  bool say_budget(const ToldBudget& told, Outbox& out);

  /// Anything owned, held, withheld or waiting for an answer of the peer: virtual hosts run on until it is
  /// false.
  bool busy() const;
  const Counters& counters() const;
  /// One flow.
  std::optional<FlowView> flow(const FlowKey& key) const;
  const Latencies& latencies() const;
  /// Appends the flows of up to `records` records from number `from` on, and returns where to go on; 0: that
  /// was all. A walk over all of them would hold up the packets.
  size_t flows(size_t from, size_t records, std::vector<FlowView>& out) const;
  /// All of them, in table order.
  std::vector<FlowView> flows() const;
  /// Flows that the learners watch without knowing their partner, and why; in order of birth.
  std::vector<Correlation::Report> unpaired() const;
  /// Owned packets of all source flows (invariants and reports).
  uint64_t owned_packets() const;
  /// In the order in which they were made, with the rates of `now`.
  std::vector<GroupView> groups(Instant now) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace matchrdma
