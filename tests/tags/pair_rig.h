#pragma once
// Two Shards wired by hand: a test decides what crosses the span, what is lost and when, and looks at what
// leaves.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/shard/shard.h"
#include "model/packet_arena.h"

namespace matchrdma::tags {

/// A QP pair of the two hosts: `a` stands on proxy A's LAN.
struct Ends {
  Qpn a{0x11}, b{0x22};
  uint32_t start_a = 100, start_b = 5000;  ///< first PSNs of what each end sends
  uint16_t vlan = 0;                       ///< 0: untagged
  uint16_t port = 0xc001;                  ///< UDP source port, both ways
};

struct RigOptions {
  ShardConfig config;
  uint32_t path_mtu = 1024;
  Completion completion = Completion::kEarly;
  bool fresh = true;  ///< starting PSNs are registered; otherwise flows are joined in the middle
  bool credits = false;
  uint32_t max_flows = 64;
  /// A budget that admits one packet and then nothing for about a millisecond.
  RigOptions& throttled();
};

/// One thing that left a proxy: a packet, or (packet empty) a message.
struct Left {
  Cause cause = Cause::kForward;
  bool priority = false;
  PacketRef packet;
  Message message;
  Frame frame() const { return parse_frame(packet->bytes()).frame; }
};
using Queue = std::vector<Left>;

struct Aeth {
  uint32_t psn = 0;
  uint8_t syndrome = 0;
  uint32_t msn = 0;
};

struct Proxy {
  Proxy(const ShardConfig& c, PacketPool& pool) : shard(c, pool) {}
  Shard shard;
  Outbox out;
  std::vector<JournalRecord> journal;  ///< as it came
  Queue lan, wan;                      ///< what left and was not taken away yet; `wan` is under way to the peer
};

/// PROBE_ACK never crosses the rig, so that the round trip stays `initial_rtt` whatever a test does with time.
class PairRig {
 public:
  explicit PairRig(const RigOptions& o = {});

  /// Registers the pair and carries what the proxies say; fresh flows are active afterwards and all queues
  /// empty.
  void connect(const Ends& e = {});
  Registration registration(const Ends& e = {}) const;
  /// At proxy A, as its admin socket would; what it says is under way afterwards.
  bool register_at_a(const Registration& r);
  void unregister_at_a(const Registration& r);

  // The hosts. A destination QPN of 0 is filled in.
  void from_a(const RoceSpec& r, const Ends& e = {}, uint8_t ecn = 2);
  void from_b(const RoceSpec& r, const Ends& e = {});
  /// A packet straight from the span, as a peer that is not tracking lets it pass.
  void to_a_wan(const RoceSpec& r, const Ends& e = {});
  void to_b_wan(const RoceSpec& r, const Ends& e = {});
  /// Any bytes.
  void raw(Proxy& p, Side side, Bytes frame);

  // The span, everything in order.
  void carry_ab();
  void carry_ba();
  /// Both ways until nothing is under way.
  void carry();
  /// Timers run, nothing is carried.
  void wait(Duration d);
  /// Timers run, everything is carried at once.
  void run(Duration d);
  void say(Proxy& to, const Message& m);
  void drain(Proxy& p, bool on);
  /// A proxy starts anew with nothing in its memory; the other one is told by the new session.
  void restart(Proxy& p);
  /// What the journal of its last life says, to the new one.
  void read_journal(Proxy& p);

  Instant now() const { return now_; }

 private:
  PairRig(const RigOptions& o, std::unique_ptr<model::PacketArena> arena);
  PacketRef build(const RoceSpec& r, const Ends& e, bool from_a, uint8_t ecn);
  void give(Proxy& p, RxItem* item, const Message* m);
  void carry(Proxy& from, Proxy& to);
  void advance(Instant until, bool carrying);

  std::unique_ptr<model::PacketArena> arena_;  ///< before all that holds packets

 public:
  Proxy a, b;

 private:
  RigOptions o_;
  Instant now_;
  uint32_t instance_ = 100;
};

/// State of its first source flow, or of its first destination flow.
std::string state_at(const Proxy& p, bool source);

// Requests and answers. Payload is 64 bytes of `fill`.
RoceSpec write_only(uint32_t psn, uint8_t fill = 1, bool ack_req = true);
RoceSpec write_part(uint8_t opcode, uint32_t psn, bool ack_req = false);
RoceSpec read_request(uint32_t psn, uint32_t length, uint64_t va = 0x1000);
RoceSpec response(uint8_t opcode, uint32_t psn, uint32_t msn = 0);
RoceSpec answer(uint32_t psn, uint32_t msn = 0, uint8_t syndrome = 31);
RoceSpec cnp();

// What left, in order.
std::vector<uint32_t> psns(const Queue& q);  ///< of all packets
std::vector<uint32_t> psns(const Queue& q, Cause cause);
std::vector<Aeth> aeths(const Queue& q);     ///< ACKs and NAKs
std::vector<uint32_t> acks(const Queue& q);  ///< PSNs of ACKs
std::vector<uint32_t> naks(const Queue& q);  ///< PSNs of sequence NAKs
void lose(Queue& q, uint32_t psn);           ///< the packets of that PSN
void lose_messages(Queue& q);

/// The newest message of a type.
template <typename M>
std::optional<M> newest(const Queue& q) {
  std::optional<M> out;
  for (const Left& l : q) {
    if (!l.packet && std::holds_alternative<M>(l.message)) out = std::get<M>(l.message);
  }
  return out;
}

using Psns = std::vector<uint32_t>;

}  // namespace matchrdma::tags
