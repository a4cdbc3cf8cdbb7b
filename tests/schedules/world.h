#pragma once
// Two model hosts, two proxies, the wires between, in virtual time.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controlplane/endpoint/sole_budgets.h"
#include "model/audit.h"
#include "model/host.h"
#include "model/packet_arena.h"
#include "model/span.h"
#include "pcap/capture_writer.h"
#include "tests/schedules/watch.h"

namespace matchrdma::schedules {

/// What travels between the proxies.
struct Carried {
  PacketRef packet;
  Message message;
  uint32_t session = 0;  ///< a message that was sealed under an older one is lost
};

struct Proxy {
  Proxy(const Options& o, uint32_t instance, std::string name, PacketPool& pool);
  Shard shard;
  Outbox out;
  Watch watch;
  SoleBudgets budgets;
  std::vector<RxItem> rx;
  std::vector<Message> messages;
};

class World {
 public:
  /// `capture`: folder that gets lan-a.pcap, wan.pcap and lan-b.pcap; empty for none.
  World(const Options& o, const std::string& capture);

  /// Runs to the end. Empty when every invariant held.
  std::string run();

  uint64_t packets() const { return packets_; }
  /// Told what proxy B has closed, after its budgets were made; since the traffic began.
  using SlotWatch = std::function<void(Duration at, std::span<const GroupSlot>, const BudgetMaker*)>;
  void watch_slots(SlotWatch w) { slot_watch_ = std::move(w); }
  const Shard& source() const { return pa_.shard; }

 private:
  using Wire = model::PacketSpan;
  using Long = model::Span<Carried>;

  void connect();
  bool waits(const FlowKey& flow, Psn psn) const;
  bool handshakes();
  void post_due();
  void step();
  void hosts_send();
  void run_proxy(Proxy& p, bool is_a);
  void make_budgets(Proxy& p);
  bool lost_budget(const Message& m);
  void change_egress();
  void restart_due();
  void emit(Proxy& p, bool is_a);
  Instant next_event() const;
  Instant proxy_now() const { return now_ + o_.proxy_age; }
  Instant wakeup(const Proxy& p) const {
    const Instant at = earlier(p.shard.next_wakeup(), p.budgets.next_deadline());
    return at.is_never() ? at : at - o_.proxy_age;
  }
  bool finished();
  std::string verdict(bool done);
  std::string states() const;
  void record(int where, Bytes b);
  Registration registration(const PairOptions& p) const;

  const Options& o_;
  model::PacketArena arena_;
  model::Host a_, b_;
  Wire a_up_, a_down_, b_up_, b_down_;
  Long ab_, ba_, ctl_ab_, ctl_ba_;
  Proxy pa_, pb_;
  Prng prng_;
  struct Pair {
    model::QpPair qps;
    int64_t left_a = 0, left_b = 0;
    Instant next_post;
    Instant register_at = Instant::never();
  };
  std::vector<Pair> pairs_;
  std::vector<std::pair<FlowKey, model::Qp*>> flow_senders_;
  std::vector<CaptureWriter> captures_;
  Instant now_;
  uint64_t packets_ = 0;
  int same_time_ = 0;
  uint32_t session_ = 0;
  Instant egress_changes_at_ = Instant::never();
  bool egress_low_ = false;
  Instant dies_at_ = Instant::never(), back_at_ = Instant::never();
  SlotWatch slot_watch_;
  Instant began_;
  bool started_ = true;  ///< registrations are done, work is posted
};

}  // namespace matchrdma::schedules
