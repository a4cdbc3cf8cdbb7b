// What a replay found, collected when it is over.
#include "pcap/replay_world.h"

namespace matchrdma {

namespace {

ReplayResult::Learned learned_of(const FlowView& v) {
  ReplayResult::Learned l;
  l.by = learned_by_key(v.learned_by);
  l.state = v.state;
  l.sender_qpn = v.sender_qpn;
  if (!v.activated) l.why_not = "paired, but the capture ended before the proxies could answer for it";
  return l;
}

}  // namespace

// The QP begins to live anew: what the proxies say of it from now on is no word about the life before.
void ReplayWorld::remember_life(int stream) {
  const FlowKey& key = flows_.streams()[static_cast<size_t>(stream)].key;
  for (const auto& n : nodes_)
    if (const auto v = n->proxy.shard().flow(key); v && v->source) ended_[stream] = learned_of(*v);
}

// What the proxy at the sender's site knows of every stream.
void ReplayWorld::report_learned(ReplayResult& r) const {
  r.learned.assign(flows_.streams().size(), {});
  for (const auto& [stream, learned] : ended_) r.learned[static_cast<size_t>(stream)] = learned;
  const auto stream = [this](const FlowKey& key) { return static_cast<size_t>(lives_.living(key)); };
  for (const auto& n : nodes_) {
    for (const FlowView& v : n->proxy.shard().flows())
      if (v.source && flows_.stream_of(v.key) >= 0) r.learned[stream(v.key)] = learned_of(v);
  }
  for (const auto& n : nodes_) {
    for (const Correlation::Report& u : n->proxy.shard().unpaired()) {
      if (flows_.stream_of(u.key) < 0 || r.learned[stream(u.key)].by != "none") continue;
      r.learned[stream(u.key)].why_not = unpaired_text(u.why);
    }
  }
}

// What the figures alone would not explain.
void ReplayWorld::warn(ReplayResult& r) const {
  const auto say = [&r](uint64_t n, const std::string& one, const std::string& many) {
    if (n != 0) r.warnings.push_back(std::to_string(n) + " " + (n == 1 ? one : many));
  };
  for (const auto& n : nodes_)
    for (const FlowView& v : n->proxy.shard().flows()) {
      const int stream = lives_.living(v.key);
      // Of a QP used anew they may be the packets of its next life.
      if (stream >= 0 && !flows_.streams()[static_cast<size_t>(stream)].reused) r.behind_gap += v.behind_gap;
    }
  if (r.delivery.lost != 0) {
    const std::string why =
        " behind one that the recording lacks: a real sender would send it again, a recording cannot, and the "
        "proxy waits for it";
    say(r.behind_gap, "request stands" + why, "requests stand" + why);
  }
  const std::string earlier = " captured earlier than the packet before";
  say(feed_.clock().backwards(), "packet is" + earlier + " it: its time is not to be trusted",
      "packets are" + earlier + " them: their times are not to be trusted");
  const std::string cut =
      " longer than " + std::to_string(CaptureClock::kLongestPause.ns / 1'000'000'000) + " s and cut to that";
  say(feed_.clock().shortened(), "pause of the recording was" + cut, "pauses of the recording were" + cut);
  const std::string whole =
      " cut short by the capture: proxies cannot act on that, and no queue pair is named for sure; capture "
      "whole "
      "packets (tcpdump -s 0)";
  say(flows_.counts().truncated, "packet is" + whole, "packets are" + whole);
  constexpr size_t kTold = 5;
  for (size_t i = 0; i < refused_.size() && i < kTold; ++i) r.warnings.push_back(refused_[i]);
  if (refused_.size() > kTold)
    r.warnings.push_back(std::to_string(refused_.size() - kTold) + " more pairs were not registered");
}

void ReplayWorld::report(ReplayResult& r) {
  for (const size_t s : {0u, 1u}) r.proxy[s] = nodes_[s]->proxy.shard().counters();
  r.delivery = checks_.report();
  r.with_proxy = latency_.with_proxy();
  r.by_receiver = latency_.by_receiver();
  r.by_proxy = latency_.by_proxy();
  r.without_proxy = latency_.without_proxy();
  report_learned(r);
  warn(r);
  wan_.report(r.span);
  budgets_.hand_out(r);
  r.span.repaired = checks_.repaired();
  r.span.responses_lost = checks_.responses_lost();
  r.unanswered_requests = checks_.unanswered();
  r.released_without_cause = hosts_.released();
  r.packets_fed = fed_;
  r.virtual_time = now_ - first_entry_;
  const auto& hosts = flows_.sites().hosts();
  for (size_t i = 0; i < hosts.size(); ++i)
    if (hosts[i].packets > 0)
      r.hosts.push_back({hosts[i].name, hosts_.site(static_cast<int>(i)), hosts[i].packets,
                         hosts_.shift(static_cast<int>(i))});
}

}  // namespace matchrdma
