#pragma once
// Model hosts on two sides, two proxies, the wires between, in virtual time.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/audit.h"
#include "model/host.h"
#include "model/packet_arena.h"
#include "sim/swarm/bounds.h"
#include "sim/swarm/proxy.h"
#include "sim/swarm/stranger.h"
#include "sim/swarm/tally.h"
#include "sim/swarm/wires.h"

namespace matchrdma::swarm {

/// Where a packet was seen.
enum class Tap : uint8_t { kLanA, kWan, kLanB };
/// Told of every packet, as it leaves whoever sends it.
using Capture = std::function<void(Tap, Instant, Bytes)>;

/// Duty: plays one schedule and says which invariant broke. Does not know how schedules are drawn.
class World {
 public:
  /// `o` must outlive the world.
  explicit World(const Options& o, Capture capture = {});

  /// Runs to the end. Empty when every invariant held.
  std::string run();

  uint64_t packets() const { return packets_; }
  /// What was met; after run().
  Tally tally() const;
  /// Told what proxy B has closed, after its budgets were made; since the traffic began.
  using SlotWatch = std::function<void(Duration at, std::span<const GroupSlot>, const BudgetMaker*)>;
  void watch_slots(SlotWatch w) { slot_watch_ = std::move(w); }
  const Shard& source() const { return pa_.shard; }

 private:
  using Hosts = std::vector<std::unique_ptr<model::Host>>;

  /// Where a QP stands that is reset (PROTOCOL 3).
  enum class Life : uint8_t {
    kSettled,
    kFenced,     ///< gone from both hosts; its numbers are not used again before quiet_until
    kAnnounced,  ///< registered anew, nothing posted yet
  };
  /// One connection between two hosts.
  struct Pair {
    PairOptions now;  ///< as drawn, but for the PSNs and keys of its present life
    model::QpPair qps;
    int64_t left_a = 0, left_b = 0;
    Instant next_post;
    Instant register_at = Instant::never();
    Instant reset_at = Instant::never();
    Instant quiet_until = Instant::never();
    Instant patience = Instant::never();  ///< when it begins without an answer: there may be no room for it
    Life life = Life::kSettled;
    bool known = true;      ///< the proxies had room for it
    bool may_fail = false;  ///< its sender was promised what died with proxy A
  };

  // world.cc: the order of things.
  void step();
  Instant next_event() const;
  void deliver_to_hosts();
  void hosts_send();
  void record(Tap tap, Bytes b);

  // traffic.cc: connections and what is posted on them.
  void connect_all();
  void connect(Pair& w);
  bool handshakes();
  bool answered(const Pair& w) const;
  void post_due();
  void post(Pair& w);
  bool waits(const FlowKey& flow, Psn psn) const;
  bool works(const Pair& w) const { return w.left_a + w.left_b > 0 && w.life == Life::kSettled; }

  // proxies.cc: what the proxies are given and what becomes of what they say.
  void run_proxy(Proxy& p);
  void run_burst(Proxy& p, std::span<RxItem> burst, std::span<const Message> messages);
  void run_hostile(Proxy& p);
  void check_memory(Proxy& p);
  void make_budgets(Proxy& p);
  void emit(Proxy& p);
  void spoil(PacketRef& packet);
  bool lost_budget(const Message& m);
  void change_egress();
  void attack_due();
  bool is_a(const Proxy& p) const { return &p == &pa_; }
  bool idle(const Proxy& p) const { return p.rx.empty() && p.hostile.empty() && p.messages.empty(); }

  // lives.cc: proxies that die, QPs that are reset.
  void restart_due();
  bool returns_now(Proxy& p);
  void after_restart_of_a();
  void resets_due();
  void fence(Pair& w);
  void announce(Pair& w);
  void begin_again(Pair& w);

  // verdict.cc
  bool finished() const;
  std::string audit_pairs(bool done, bool& healthy) const;
  std::string verdict(bool done) const;
  std::string states() const;
  uint64_t live_bound() const;
  void complain(const std::string& what);

  Instant proxy_now() const { return now_ + o_.proxy_age; }
  Instant wakeup(const Proxy& p) const {
    const Instant at = earlier(p.shard.next_wakeup(), p.budgets.next_deadline());
    return at.is_never() ? at : at - o_.proxy_age;
  }

  const Options& o_;
  model::PacketArena arena_;
  Hosts a_, b_;
  Wire a_up_, a_down_, b_up_, b_down_;
  Long ab_, ba_, ctl_ab_, ctl_ba_;
  Proxy pa_, pb_;
  Prng prng_;
  Prng lives_;  ///< of what random_options() does not know, so that its schedules draw as ever
  Stranger stranger_;
  std::vector<Pair> pairs_;
  std::vector<std::pair<FlowKey, model::Qp*>> flow_senders_;
  std::vector<PacketRef> never_given_back_;  ///< Canary::kMemory
  Capture capture_;
  Instant now_;
  std::string complaint_;
  Tally met_;
  uint64_t packets_ = 0;
  int same_time_ = 0;
  uint32_t session_ = 0;
  Instant egress_changes_at_ = Instant::never();
  bool egress_low_ = false;
  Instant next_attack_ = Instant::never();
  int64_t attacks_left_ = 0;
  SlotWatch slot_watch_;
  Instant began_;
  bool started_ = true;  ///< registrations are done, work is posted
};

/// How the orchestrator knows a pair.
Registration registration(const PairOptions& p);

}  // namespace matchrdma::swarm
