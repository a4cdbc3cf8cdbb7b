#include "pcap/make/burst.h"

#include "model/workload.h"

namespace matchrdma {
namespace {

using model::WorkRequest;
using model::WrType;

/// Queue pairs 2i and 2i + 1 are one channel of a ring over both sites: the first carries its data from A to B,
/// the second from B to A. Receivers allow every chunk by a small WRITE (clear-to-send), senders answer with a
/// WRITE of the chunk and an empty WRITE_WITH_IMM that tells of it, as NCCL does with adaptive routing. A chunk
/// that was received is reduced and goes on, so a sender cannot run far ahead of what it received itself.
class TrainingBurst final : public Burst {
 public:
  TrainingBurst(const TraceRecipe& r, std::vector<Lane>& lanes) : r_(r), lanes_(lanes), states_(lanes.size()) {}

  void feed(size_t lane, uint64_t target, Instant now) override {
    State& s = states_[lane];
    while (s.allowed < std::min(target, received(lane) + kAllowedAhead)) allow(lane, s.allowed++, now);
    const uint64_t may = std::min({target, allowed_seen(lane), ring_limit(lane)});
    while (s.sent < may) send(lane, s.sent++, now);
  }
  bool complete(size_t lane, uint64_t target) const override {
    const Lane& l = lanes_[lane];
    return received(lane) >= target && l.qps.a->requester.idle() && l.qps.b->requester.idle();
  }

 private:
  struct State {
    uint64_t allowed = 0, sent = 0;
  };
  static constexpr uint64_t kAllowedAhead = 4, kSentAhead = 4;
  static constexpr uint32_t kClearToSend = 64;

  bool from_a(size_t lane) const { return sending_side(r_, static_cast<uint32_t>(lane)) == 0; }
  model::Qp& sender(size_t lane) const { return from_a(lane) ? *lanes_[lane].qps.a : *lanes_[lane].qps.b; }
  model::Qp& receiver(size_t lane) const { return from_a(lane) ? *lanes_[lane].qps.b : *lanes_[lane].qps.a; }
  /// Chunks: two messages each.
  uint64_t received(size_t lane) const {
    return static_cast<uint64_t>(receiver(lane).responder.messages()) / 2;
  }
  uint64_t allowed_seen(size_t lane) const { return static_cast<uint64_t>(sender(lane).responder.messages()); }
  uint64_t ring_limit(size_t lane) const {
    const size_t other = lane ^ 1;
    return other < lanes_.size() ? received(other) + kSentAhead : std::numeric_limits<uint64_t>::max();
  }
  void allow(size_t lane, uint64_t chunk, Instant now) {
    const model::MemoryConfig& m = from_a(lane) ? lanes_[lane].memory_a : lanes_[lane].memory_b;
    WorkRequest w;
    w.length = kClearToSend;
    w.va = m.base + (chunk % (m.size / kClearToSend)) * kClearToSend;
    w.rkey = m.rkey;
    receiver(lane).requester.post(w, now);
  }
  void send(size_t lane, uint64_t chunk, Instant now) {
    const model::MemoryConfig& m = from_a(lane) ? lanes_[lane].memory_b : lanes_[lane].memory_a;
    WorkRequest w;
    w.length = message_bytes(r_);
    w.va = m.base + (chunk % kSlots) * w.length;
    w.rkey = m.rkey;
    sender(lane).requester.post(w, now);
    WorkRequest tell;
    tell.type = WrType::kWriteImm;
    tell.imm = w.length;
    sender(lane).requester.post(tell, now);
  }

  const TraceRecipe& r_;
  std::vector<Lane>& lanes_;
  std::vector<State> states_;
};

/// One kind of request from A to B (all kinds, both ways: kMixed), posted as soon as the burst begins.
class PlainBurst final : public Burst {
 public:
  PlainBurst(const TraceRecipe& r, std::vector<Lane>& lanes, uint64_t seed)
      : r_(r), lanes_(lanes), prng_(seed) {}

  void feed(size_t lane, uint64_t target, Instant now) override {
    Lane& l = lanes_[lane];
    while (l.qps.a->requester.records().size() < target) l.qps.a->requester.post(work(l.memory_b), now);
    if (r_.pattern != TracePattern::kMixed) return;
    while (l.qps.b->requester.records().size() < target) l.qps.b->requester.post(work(l.memory_a), now);
  }
  bool complete(size_t lane, uint64_t target) const override {
    const model::QpPair& q = lanes_[lane].qps;
    return q.a->requester.records().size() >= target && q.a->requester.idle() && q.b->requester.idle();
  }

 private:
  WorkRequest work(const model::MemoryConfig& remote) {
    model::WorkloadConfig c;
    c.path_mtu = r_.path_mtu;
    c.max_length = message_bytes(r_);
    if (r_.pattern == TracePattern::kMixed || r_.pattern == TracePattern::kAtomic) {
      c.sends = c.writes = c.reads = r_.pattern == TracePattern::kMixed;
      return model::random_work(prng_, c, remote);
    }
    WorkRequest w;
    w.type = r_.pattern == TracePattern::kSend   ? WrType::kSend
             : r_.pattern == TracePattern::kRead ? WrType::kRead
                                                 : WrType::kWrite;
    w.length = message_bytes(r_);
    w.va = remote.base + prng_.below(kSlots) * w.length;
    w.rkey = remote.rkey;
    return w;
  }

  const TraceRecipe& r_;
  std::vector<Lane>& lanes_;
  Prng prng_;
};

}  // namespace

std::unique_ptr<Burst> make_burst(const TraceRecipe& r, std::vector<Lane>& lanes, uint64_t seed) {
  if (r.pattern == TracePattern::kTraining) return std::make_unique<TrainingBurst>(r, lanes);
  return std::make_unique<PlainBurst>(r, lanes, seed);
}

}  // namespace matchrdma
