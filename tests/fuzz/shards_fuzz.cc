// Operations on a pair of Shards from chosen start states: hosts that send anything, a span that loses, repeats
// and reorders anything, a peer that says anything. Asserts stay on; besides, no ACK of ours for what never
// entered and no packet of ours with a wrong ICRC.
#include <set>
#include <vector>

#include "controlplane/channel/codec.h"
#include "dataplane/wire/icrc.h"
#include "tests/tags/pair_rig.h"

namespace {

using namespace matchrdma;
using namespace matchrdma::tags;

constexpr uint32_t kStart = 100;

struct Script {
  Bytes bytes;
  size_t at = 0;
  bool over() const { return at >= bytes.size(); }
  uint8_t next() { return over() ? 0 : bytes[at++]; }
  Bytes take(size_t n) {
    const Bytes b = bytes.subspan(at, std::min(n, bytes.size() - at));
    at += b.size();
    return b;
  }
};

class Game {
 public:
  explicit Game(uint8_t start) : rig_(options(start)) {
    if (start % 8 != 3) rig_.connect();
    if (start % 8 == 6) send(read_request(kStart, 4096));
    if (start % 8 == 7) {
      send(write_only(kStart));
      rig_.carry();
      rig_.from_b(answer(kStart, 0, kNakRemoteAccess));
    }
    check();
  }

  void play(Script& s) {
    while (!s.over()) {
      const uint8_t what = s.next(), n = s.next();
      step(what % 20, n, s);
      check();
    }
    rig_.run(Duration::millis(20));
    check();
  }

 private:
  static RigOptions options(uint8_t start) {
    RigOptions o;
    o.config.limits.correlation = {2, 16};
    o.config.limits.custody_packets = o.config.limits.held_packets = 4096;
    o.config.limits.confirmed_entries = 4096;
    o.config.timing.initial_rtt = Duration::millis(2);
    o.config.timing.repair_bound = Duration::millis(500);
    o.config.tuning.learned = Completion::kEarly;
    switch (start % 8) {
      case 1:
        o.completion = Completion::kEndToEnd;
        break;
      case 2:
        o.fresh = false;
        break;
      case 4:
        o.credits = true;
        break;
      case 5:
        o.throttled();
        break;
      default:
        break;
    }
    return o;
  }

  void send(const RoceSpec& r) {
    entered_.insert(r.psn.v);
    const uint32_t psns = r.opcode == op::kRcReadReq ? std::max(1u, (r.dma_length + 1023) / 1024) : 1;
    for (uint32_t i = 1; i < std::min(psns, 64u); ++i) entered_.insert((r.psn.v + i) & Psn::kMask);
    rig_.from_a(r);
  }

  bool entered(uint32_t psn) const { return psn == kStart - 1 || entered_.contains(psn); }

  void step(uint8_t what, uint8_t n, Script& s) {
    const uint32_t psn = (kStart + n) & Psn::kMask;
    // A receiver that acknowledges what it never got is believed: it may have got it past us.
    if (what >= 5 && what <= 9) trusted_ = trusted_ && entered(psn) && entered((psn - 1) & Psn::kMask);
    switch (what) {
      case 0:
        send(write_only(psn, s.next(), (n & 1) != 0));
        break;
      case 1:
        send(write_part(op::kRcWriteFirst, psn));
        break;
      case 2:
        send(write_part(op::kRcWriteMiddle, psn, (n & 2) != 0));
        break;
      case 3:
        send(write_part(op::kRcWriteLast, psn, true));
        break;
      case 4:
        send(read_request(psn, uint32_t{s.next()} * 64));
        break;
      case 5:
        rig_.from_b(answer(psn, s.next()));
        break;
      case 6:
        rig_.from_b(answer(psn, s.next(), s.next()));
        break;
      case 7:
        rig_.from_b(response(op::kRcReadRespOnly, psn, s.next()));
        break;
      case 8:
        rig_.from_b(response(op::kRcReadRespFirst + s.next() % 3, psn, s.next()));
        break;
      case 9:
        rig_.to_a_wan(answer(psn, s.next(), s.next()));
        break;
      case 10:
        rig_.to_b_wan(write_only(psn, s.next()));
        break;
      case 11:
        rig_.carry_ab();
        break;
      case 12:
        rig_.carry_ba();
        break;
      case 13:
        rig_.carry();
        break;
      case 14:
        rig_.wait(Duration::micros(int64_t{n} * n * 4));
        break;
      case 15:
        rig_.run(Duration::micros(int64_t{n} * n * 4));
        break;
      case 16:
        spoil(n % 2 == 0 ? rig_.a.wan : rig_.b.wan, n / 2, s.next());
        break;
      case 17:
        say(n, s);
        break;
      case 18:
        n % 2 == 0 ? rig_.unregister_at_a(rig_.registration()) : void(rig_.register_at_a(rig_.registration()));
        break;
      default:
        rig_.raw(n % 2 == 0 ? rig_.a : rig_.b, n % 4 < 2 ? Side::kLan : Side::kWan, s.take(n));
    }
  }

  // Loses, repeats or reorders one thing that is under way.
  static void spoil(Queue& q, size_t which, uint8_t how) {
    if (q.empty()) return;
    const auto i = q.begin() + static_cast<std::ptrdiff_t>(which % q.size());
    if (how % 3 == 0) {
      q.erase(i);
    } else if (how % 3 == 1) {
      std::swap(*i, q.back());
    } else {
      q.push_back({i->cause, i->priority, i->packet ? i->packet.share() : PacketRef{}, i->message});
    }
  }

  /// Whatever the channel would let through.
  void say(uint8_t n, Script& s) {
    std::vector<Message> messages;
    DecodeCounts counts;
    decode(s.take(n), messages, counts);
    for (const Message& m : messages) rig_.say(n % 2 == 0 ? rig_.a : rig_.b, m);
    trusted_ = trusted_ && messages.empty();  // a lying peer may lift a barrier or move base
  }

  void check() {
    for (const Proxy* p : {&rig_.a, &rig_.b}) {
      MRDMA_CHECK(p->shard.counters().gate_bytes <= p->shard.counters().custody_bytes);
      for (const Left& l : p->lan) {
        if (!l.packet || l.cause < Cause::kPseudoAck) continue;
        MRDMA_CHECK(icrc_ok(l.frame()));
        const bool ack = l.cause == Cause::kPseudoAck && p == &rig_.a;
        const uint32_t psn = l.frame().psn().v;
        if (ack && trusted_) MRDMA_CHECK(entered(psn));
      }
    }
    rig_.a.lan.clear();
    rig_.b.lan.clear();
  }

  PairRig rig_;
  std::set<uint32_t> entered_;
  bool trusted_ = true;  ///< receiver and peer have told no lie
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0 || size > 4096) return 0;
  Script s{{data, size}};
  Game game(s.next());
  game.play(s);
  return 0;
}
