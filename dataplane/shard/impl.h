#pragma once
// Inside of the Shard: its flow records and the stages, one file per stage.
#include <array>
#include <memory>
#include <vector>

#include "dataplane/base/deadline_queue.h"
#include "dataplane/destination/egress.h"
#include "dataplane/flow/cm_learner.h"
#include "dataplane/flow/correlation.h"
#include "dataplane/flow/flow_table.h"
#include "dataplane/flow/id_index.h"
#include "dataplane/flow/learned_by.h"
#include "dataplane/shard/asked.h"
#include "dataplane/shard/shard.h"
#include "dataplane/source/cnp.h"
#include "dataplane/source/fault.h"
#include "dataplane/source/gate.h"

namespace matchrdma {

/// One direction of a known QP: exactly one of the two roles stands on this proxy.
struct alignas(64) FlowRecord {
  FlowIndex reverse = kNoFlow;
  std::unique_ptr<SourceFlow> source;
  std::unique_ptr<DestinationFlow> destination;
  bool dirty = false;
  bool failed = false;                   ///< its source is poisoned
  uint32_t busy_in = 0;                  ///< the newest period in which something happened to it
  bool policy_asked = false;             ///< with the traffic class of a real request
  uint8_t dscp = 0;                      ///< of that request
  std::optional<Completion> registered;  ///< what its registration asked for
  LearnedBy by = LearnedBy::kRegistration;
  Instant last;                 ///< newest packet
  uint64_t registered_seq = 0;  ///< of the REGISTER that named it
  Registration::End named;      ///< as the learner knew its sender
};

struct Shard::Impl {
  /// A packet of the burst, and whose it is.
  struct Seen {
    ParseResult parsed;
    bool roce = false;  ///< key, hash and flow say something
    FlowKey key;        ///< of the flow that it would be a request of
    uint64_t hash = 0;
    FlowIndex flow = kNoFlow;
    FlowIndex target = kNoFlow;  ///< whose state it will need
  };

  Impl(const ShardConfig& c, PacketPool& p);

  /// Where nobody gave a policy: the same for all.
  struct FixedPolicy final : FlowPolicy {
    explicit FixedPolicy(const Tuning& t) : tuning(t) {}
    bool learns() const override { return tuning.learned != Completion::kTransparent; }
    Completion completion(const FlowKey&, uint8_t, std::optional<Completion> registered) const override {
      return registered.value_or(tuning.learned);
    }
    uint32_t weight(const FlowKey&, uint8_t) const override { return 1; }
    Budget budget(const GroupKey&) const override { return {tuning.budget, tuning.budget_burst_bytes}; }
    const Tuning& tuning;
  };

  // shard.cc: the order of the stages.
  void run_once(std::span<RxItem> burst, std::span<const Message> messages, Instant now, Outbox& out);
  Instant next_wakeup() const;
  RoleCtx context(Instant now, Outbox& out);
  void touch(FlowIndex i);
  void owe(FlowIndex i);
  void take_due(const RoleCtx& ctx);
  void run_flow_timers(const RoleCtx& ctx);
  void run_timers(FlowIndex i, const RoleCtx& ctx);
  bool run_source_timers(FlowIndex i, const RoleCtx& ctx);
  void expire(FlowIndex i, const RoleCtx& ctx);
  void settle_dirty(const RoleCtx& ctx);
  void prefetch_settled(FlowIndex i) const;
  void share_failure(DestinationFlow& f, FlowIndex reverse, const RoleCtx& ctx);
  void arm(FlowIndex i, const RoleCtx& ctx);

  // inputs.cc: packets and messages, and what they need from memory.
  void on_inputs(std::span<const Message> messages, std::span<RxItem> burst, const RoleCtx& ctx);
  void bring(std::span<const Message> messages, std::span<const RxItem> burst);
  void look_at(const RxItem& item, Seen& s) const;
  void find(Seen& s) const;
  void aim(Seen& s) const;
  void prefetch_role(FlowIndex i, bool whole) const;
  void prefetch_oldest(FlowIndex i) const;
  void prefetch_window(const Seen& s) const;
  void prefetch_released(FlowIndex i, Seq end) const;
  void prefetch_answered(const Seen& s) const;

  // packets.cc: what a packet is and whose it is.
  void on_packet(RxItem& item, Seen& s, const RoleCtx& ctx);
  void on_roce(Side side, Seen& s, PacketRef packet, const RoleCtx& ctx);
  void on_rc_request(Side side, Seen& s, PacketRef packet, const RoleCtx& ctx);
  void on_rc_response(Side side, const Seen& s, PacketRef packet, const RoleCtx& ctx);
  void on_cnp(Side side, const Seen& s, PacketRef packet, const RoleCtx& ctx);
  void on_opaque(Side side, const Seen& s, Reason why, PacketRef packet, const RoleCtx& ctx);
  void forward(Side from, Cause cause, PacketRef packet, const RoleCtx& ctx);
  void forward_outside(const Frame& f, Cause cause, PacketRef packet, const RoleCtx& ctx);
  void pass(Side from, const Frame& f, PacketRef packet, const RoleCtx& ctx);

  // source_stage.cc: requests from the LAN, answers from the span.
  void pass_or_keep(SourceFlow& f, const Frame& req, PacketRef packet, const RoleCtx& ctx);
  void source_request(SourceFlow& f, const Frame& req, PacketRef packet, const RoleCtx& ctx);
  void source_answer(SourceFlow& f, const Frame& answer, PacketRef packet, const RoleCtx& ctx);
  void source_answer_active(SourceFlow& f, const Frame& answer, PacketRef packet, const RoleCtx& ctx);
  void source_answer_before_lift(SourceFlow& f, const Frame& answer, PacketRef packet, const RoleCtx& ctx);
  void open(SourceFlow& f, const RoleCtx& ctx);
  FlowId new_id(FlowIndex i);

  // policy.cc: what an operator decides.
  void ask_policy(FlowIndex i, const RoleCtx& ctx);
  void on_first_request(FlowIndex i, const Frame& f, const RoleCtx& ctx);

  // drain.cc: PROTOCOL 8.
  bool draining() const { return drain_here || drain_there; }
  void drain_all(const RoleCtx& ctx);
  bool rests() const;
  void on_drain(const Drain& m, const RoleCtx& ctx);
  void say_drain(const RoleCtx& ctx);

  // peer.cc: is it there, how far is it, what was asked of it.
  void run_peer_timer(const RoleCtx& ctx);
  void on_peer_lost(const RoleCtx& ctx);
  void on_peer_started(const RoleCtx& ctx);
  void run_custody_age(const RoleCtx& ctx);
  void restart(SourceFlow& f, const RoleCtx& ctx);
  Instant peer_deadline() const;

  // messages.cc: what the peer says.
  void on_message(const Message& m, const RoleCtx& ctx);
  template <typename M>
  void to_source(const M& m, const RoleCtx& ctx);
  template <typename M>
  void to_destination(const M& m, const RoleCtx& ctx);
  void poison_qp(FlowIndex i, uint8_t syndrome, const RoleCtx& ctx);
  void conclude(FlowIndex i, Verdict v, const RoleCtx& ctx);

  // learning.cc: the learners, and what becomes of a pair they name.
  void watch_request(const FlowKey& key, const Frame& f, const RoleCtx& ctx);
  void watch_answer(Side side, const FlowKey& key, const Frame& f, const RoleCtx& ctx);
  void on_cm(Side side, const Frame& f, PacketRef packet, const RoleCtx& ctx);
  void found(Registration pair, LearnedBy by, const RoleCtx& ctx);
  void on_flow_open(const FlowOpen& m, const RoleCtx& ctx);
  bool seen_on_path(const FlowOpen& m, const FlowRecord* r, const RoleCtx& ctx) const;
  void retire(const SourceFlow& f, const RoleCtx& ctx);
  void run_wanted(const RoleCtx& ctx);
  bool rests(FlowIndex i) const;
  void forget(const FlowRecord& r, const RoleCtx& ctx);
  FlowIndex next_by_hand();
  bool table_has_room() const { return table.size() + 2 <= config.limits.max_flows; }
  void forget_idle(const RoleCtx& ctx);
  void make_room(const RoleCtx& ctx);

  // journal.cc: H13.
  void write_journal(SourceFlow& f, const RoleCtx& ctx);
  bool poison_journaled(const JournalRecord& r, const RoleCtx& ctx);

  // dreq_hold.cc: C8.
  void hold_dreq(Side side, FlowIndex i, PacketRef packet, const RoleCtx& ctx);
  bool quiet(FlowIndex i) const;
  void release_dreqs(const RoleCtx& ctx);

  // registration.cc
  Registered learn(const Registration& reg, bool local_a, LearnedBy by, const RoleCtx& ctx);
  FlowIndex learn_flow(const Registration& reg, bool from_a, bool source_here, LearnedBy by,
                       const RoleCtx& ctx);
  static void vouch(FlowRecord& r, const Registration::End& from, LearnedBy by);
  static std::optional<FlowView> view(const FlowRecord& r);
  FlowIndex find_flow(const Registration& reg, bool from_a) const;
  void open_started(const Registration& reg, const RoleCtx& ctx);
  void unlearn(const Registration& reg, const RoleCtx& ctx);
  bool ended(const Registration& reg, const RoleCtx& ctx);
  void on_register(const RegisterQp& m, const RoleCtx& ctx);
  void on_unregister(const UnregisterQp& m, const RoleCtx& ctx);
  void answered(const Registration& reg, bool unregister, const RoleCtx& ctx);
  void ask(const Registration& reg, bool unregister, const RoleCtx& ctx);
  void say(const Registration& pair, const RoleCtx& ctx);

  FlowRecord* record(FlowIndex i) { return i == kNoFlow ? nullptr : &records[i]; }
  FlowIndex by_id(FlowId id) const { return ids.find(id); }

  static constexpr size_t kSettleAhead = 8;  ///< flows whose deadline is on its way from memory
  /// Packets, messages or timers whose flows are on their way from memory at one time.
  static constexpr size_t kAhead = 32;
  std::array<Seen, kAhead> seen;
  std::array<FlowIndex, kAhead> due_flows;  ///< flows whose deadline has come
  size_t due_count = 0;
  ShardConfig config;
  FixedPolicy fixed_policy{config.tuning};
  PacketPool& pool;
  Counters n;
  Latencies latencies;
  FlowTable table;
  IdIndex ids;
  SourceFlow::Pools source_pools;  ///< before the records: flows give back to them when they end
  DestinationFlow::Pools destination_pools;
  std::vector<FlowRecord> records;
  Gate gate;
  Egress egress;
  DeadlineQueue timers;
  std::vector<FlowIndex> dirty;
  std::vector<FlowIndex> touched;
  // Flows that something happened to, in periods of a round trip.
  uint32_t busy_now = 0, busy_before = 0, busy_period = 1;
  Instant busy_until;
  CnpPort cnp_port;
  Pause pause;
  uint32_t next_flow_id = 0;

  AskedBook asked;

  // Learners.
  Correlation correlation;
  CmLearner cm;
  struct Wanted {
    Registration pair;
    LearnedBy by;
    Instant until;
  };
  std::vector<Wanted> wanted;  ///< named while one of its QPNs still belonged to another pair, which has to end
  FlowIndex idle_hand = 0;

  struct HeldDreq {
    Side side;
    FlowIndex flow;
    PacketRef packet;
    Instant until;
  };
  std::vector<HeldDreq> held_dreqs;
  uint64_t ask_seq = 0;
  uint64_t unregistered_seq = 0;  ///< newest UNREGISTER of the peer: an older REGISTER is stale

  // The peer.
  Duration rtt;
  uint64_t soft_packets;  ///< of custody
  std::array<Duration, 16> rtt_window{};
  uint32_t rtt_count = 0;
  Instant last_heard = Instant::never();  ///< never: nothing was heard yet
  bool peer_lost = false;
  bool drain_here = false, drain_there = false;  ///< asked for by this operator, by the peer's
  bool drain_told = true;                        ///< the peer knows drain_here and, if it is set, rests
  Instant drain_retry_at = Instant::never();
  Instant custody_until = Instant::never();  ///< the peer is lost: what is owned is kept until then
  Instant next_probe = Instant::never();
  Instant last_run;
};

}  // namespace matchrdma
