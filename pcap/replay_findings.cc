// What a replay found, collected when it is over.
#include "pcap/replay_world.h"

namespace matchrdma {

// What the proxy at the sender's site knows of every stream.
void ReplayWorld::report_learned(ReplayResult& r) const {
  r.learned.assign(flows_.streams().size(), {});
  const auto stream = [this](const FlowKey& key) { return static_cast<size_t>(flows_.stream_of(key)); };
  for (const auto& n : nodes_) {
    for (const FlowView& v : n->shard.flows()) {
      if (!v.source || flows_.stream_of(v.key) < 0) continue;
      ReplayResult::Learned& l = r.learned[stream(v.key)];
      l.by = learned_by_key(v.learned_by);
      l.state = v.state;
      if (!v.activated) l.why_not = "paired, but the capture ended before the proxies could answer for it";
    }
  }
  for (const auto& n : nodes_) {
    for (const Correlation::Report& u : n->shard.unpaired()) {
      if (flows_.stream_of(u.key) < 0 || r.learned[stream(u.key)].by != "none") continue;
      r.learned[stream(u.key)].why_not = unpaired_text(u.why);
    }
  }
}

// What the figures alone would not explain.
void ReplayWorld::warn(ReplayResult& r) const {
  const auto say = [&r](uint64_t n, const std::string& text) {
    if (n != 0) r.warnings.push_back(std::to_string(n) + " " + text);
  };
  for (const auto& n : nodes_)
    for (const FlowView& v : n->shard.flows()) r.behind_gap += v.behind_gap;
  if (r.delivery.lost != 0)
    say(r.behind_gap + r.proxy[0].reasons[Reason::kLanGapFull] + r.proxy[1].reasons[Reason::kLanGapFull],
        "requests stand behind one that the recording lacks: a real sender would send it again, a recording "
        "cannot, and the proxy waits for it");
  say(feed_.backwards(),
      "packets are captured earlier than the packet before them: their times are not to be trusted");
  say(feed_.shortened(), "pauses of the recording were longer than two hours and were cut to that");
}

void ReplayWorld::report(ReplayResult& r) const {
  for (const size_t s : {0u, 1u}) r.proxy[s] = nodes_[s]->shard.counters();
  r.delivery = checks_.report();
  r.with_proxy = latency_.with_proxy();
  r.by_receiver = latency_.by_receiver();
  r.by_proxy = latency_.by_proxy();
  r.without_proxy = latency_.without_proxy();
  report_learned(r);
  warn(r);
  wan_.report(r.span);
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
