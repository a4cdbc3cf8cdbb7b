#include "tests/learning/watch.h"

#include <unordered_map>

#include "dataplane/wire/cm_mad.h"
#include "dataplane/wire/icrc.h"

namespace matchrdma::learning {
namespace {

struct Found {
  Registration pair;
  Instant at;
};

/// What a Shard does with the learners, and no more: known keys go past them; a known flow that changes its
/// port or begins elsewhere is nobody's again (source_stage.cc).
class Tap : public PacketSink {
 public:
  Tap(Duration rtt, bool canary) : rtt_(rtt), canary_(canary) {}

  Result<void> packet(Instant t, Bytes bytes) override {
    ++packets;
    const ParseResult p = parse_frame(bytes);
    if (p.kind != ParseKind::kRoce || p.reason != Reason::kNone || !icrc_ok(p.frame)) return {};
    const Frame& f = p.frame;
    const bool from_a = bytes[11] == 1;  // source MAC addresses end in the number of the site
    if (f.info().transport == Transport::kUd && f.dest_qp().v == 1) {
      if (const auto mad = parse_cm_mad(f)) take(cm_.on_mad(*mad, f, from_a, t), t);
      return {};
    }
    if (f.info().transport != Transport::kRc) return {};
    FlowKey key = FlowKey::of(f, 0);
    if (f.info().request) {
      if (known(key, f)) return {};
      correlation_.on_request(key, f, t);
      return {};
    }
    if (canary_ && (key.dst_qpn.v & 1) != 0) key.dst_qpn = Qpn{key.dst_qpn.v ^ 2};
    if (!known_.contains(key.hash())) take(correlation_.on_answer(key, f, from_a, t, rtt_), t);
    return {};
  }

  std::vector<Found> found;
  uint64_t packets = 0;

 private:
  struct Known {
    FlowKey reverse;
    uint16_t port = 0;
    Seq end = -1;
  };
  bool known(const FlowKey& key, const Frame& f) {
    const auto it = known_.find(key.hash());
    if (it == known_.end()) return false;
    Known& k = it->second;
    const Seq psn = k.end < 0 ? (Seq{1} << 32) + f.psn().v : unwrap24(f.psn().v, k.end);
    const bool same = (k.port == 0 || k.port == f.udp_source_port()) &&
                      (k.end < 0 || (psn > k.end - 1024 && psn < k.end + (Seq{1} << 20)));
    if (!same) {
      const FlowKey reverse = k.reverse;
      known_.erase(it);
      known_.erase(reverse.hash());
      return false;
    }
    k.port = f.udp_source_port();
    k.end = std::max(k.end, psn + 1);
    return true;
  }

  void take(const std::optional<Registration>& pair, Instant t) {
    if (!pair) return;
    const FlowKey ab = pair->flow(true), ba = pair->flow(false);
    known_[ab.hash()] = {ba, 0, -1};
    known_[ba.hash()] = {ab, 0, -1};
    correlation_.forget(*pair);
    found.push_back({*pair, t});
  }

  Duration rtt_;
  bool canary_;
  Correlation correlation_{CorrelationLimits{}};
  CmLearner cm_;
  std::unordered_map<uint64_t, Known> known_;
};

bool is_visible(const TracePair& p) { return p.a.visible && p.b.visible && p.a.packets > 0 && p.b.packets > 0; }

}  // namespace

Outcome run_recipe(const TraceRecipe& r, bool canary) {
  const Duration rtt = one_way(r) * 2;
  Tap tap(rtt, canary);
  Outcome o;
  const auto truth = make_trace(r, tap);
  if (!truth) {
    o.wrong = 1;
    o.first_wrong = truth.error();
    return o;
  }
  o.packets = tap.packets;
  std::vector<bool> counted(truth->pairs.size());
  for (const TracePair& p : truth->pairs) o.visible += is_visible(p) ? 1 : 0;
  for (const Found& f : tap.found) {
    bool right = false;
    for (size_t i = 0; i < truth->pairs.size(); ++i) {
      const TracePair& p = truth->pairs[i];
      const bool same = (f.pair.a.ip == p.a.ip && f.pair.a.qpn == p.a.qpn && f.pair.b.ip == p.b.ip &&
                         f.pair.b.qpn == p.b.qpn) ||
                        (f.pair.a.ip == p.b.ip && f.pair.a.qpn == p.b.qpn && f.pair.b.ip == p.a.ip &&
                         f.pair.b.qpn == p.a.qpn);
      // CM names a pair one flight before both ends may send.
      if (!same || f.at + rtt + Duration::seconds(1) < p.born || (p.ended + rtt < f.at && !p.ended.is_never()))
        continue;
      right = true;
      if (counted[i]) continue;
      counted[i] = true;
      ++o.found;
      const Instant seen = later(p.born, earlier(p.a.first_seen, p.b.first_seen));
      o.after.push_back(f.at > seen ? f.at - seen : Duration{});
    }
    if (right) continue;
    if (o.wrong++ == 0) {
      o.first_wrong = "QP " + std::to_string(f.pair.a.qpn.v) + " with QP " + std::to_string(f.pair.b.qpn.v) +
                      " at " + std::to_string((f.at - truth->begin).ns / 1000) + " us";
    }
  }
  return o;
}

}  // namespace matchrdma::learning
