#pragma once
// Two model hosts, two proxies, the wires between, in virtual time.
#include <memory>
#include <string>
#include <vector>

#include "dataplane/shard/shard.h"
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
  void restart_due();
  void emit(Proxy& p, bool is_a);
  Instant next_event() const;
  Instant proxy_now() const { return now_ + o_.proxy_age; }
  Instant wakeup(const Proxy& p) const {
    const Instant at = p.shard.next_wakeup();
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
  Instant dies_at_ = Instant::never(), back_at_ = Instant::never();
  bool started_ = true;  ///< registrations are done, work is posted
};

}  // namespace matchrdma::schedules
