// What the daemon shows: reports of the workers, joined to one immutable view (ARCHITECTURE, threads).
#include <algorithm>

#include "config/net.h"
#include "proxy/daemon/daemon.h"

namespace matchrdma::daemon {

void Daemon::ask_reports() {
  for (auto& each : machine_->workers) {
    each->mailbox().post([this, &w = *each] {
      mailbox_.post([this, r = report(w, span_names_, now())]() mutable { take_report(std::move(r)); });
    });
  }
}

void Daemon::ask_flows() {
  for (auto& each : machine_->workers) walk_flows(*each, std::make_shared<FlowWalk>(each->index()));
}

// One piece for each round of the worker.
void Daemon::walk_flows(DpdkWorker& w, const std::shared_ptr<FlowWalk>& walk) {
  w.mailbox().post([this, &w, walk] {
    if (walk->step(w, span_names_, now())) {
      mailbox_.post([this, i = w.index(), walk] { take_flows(i, walk); });
    } else {
      walk_flows(w, walk);
    }
  });
}

void Daemon::take_flows(uint16_t worker, const std::shared_ptr<const FlowWalk>& walk) {
  walks_[worker] = walk;
  auto list = std::make_shared<service::FlowList>();
  for (const auto& each : walks_) {
    if (each == nullptr) return;  // not every worker has told yet
    list->flows.insert(list->flows.end(), each->flows.begin(), each->flows.end());
    list->unpaired.insert(list->unpaired.end(), each->unpaired.begin(), each->unpaired.end());
  }
  flows_ = std::move(list);
  flows_at_ = now();
  tell_failed_flows();
}

void Daemon::take_report(WorkerReport r) {
  const size_t w = r.view.worker;
  r.view.core = config_->workers.cores[w];
  r.view.pool_buffers = machine_->pools[w]->packets();
  r.view.pool_free = machine_->pools[w]->available();
  r.view.flow_limit = machine_->limits.max_flows * span_names_.size();
  r.custody.soft_limit_bytes = machine_->limits.custody_soft_bytes;
  r.custody.hard_limit_bytes = machine_->limits.custody_hard_bytes;
  if (const auto& walk = walks_[w]; walk != nullptr) {
    r.view.flows = walk->flows.size();
    // Of the walk, which is older than the rest: what it saw may be gone.
    if (r.custody.owned_packets != 0) r.custody.oldest = walk->oldest;
  }
  for (size_t s = 0; s < r.spans.size(); ++s) {
    if (r.spans[s].wants_new_session) links_[s]->renew(now());
  }
  reports_[w] = std::move(r);
  share_paths();
  publish();
}

service::PeerView Daemon::peer_view(size_t s) const {
  const PeerLink& l = *links_[s];
  service::PeerView v;
  v.span = span_names_[s];
  v.address = to_text(config_->spans[s].peer.address);
  Instant heard = l.heard();
  bool path = false;
  for (const WorkerReport& r : reports_) {
    if (s >= r.spans.size()) continue;
    const SpanReport& span = r.spans[s];
    v.channel.add(span.channel);
    v.no_path += span.end.no_path;
    v.no_buffer += span.end.no_buffer;
    v.strange += span.end.broken;
    v.l2_dropped += span.end.l2_dropped;
    if (span.rtt.ns != 0 && (v.rtt.ns == 0 || span.rtt.ns < v.rtt.ns)) v.rtt = span.rtt;
    if (!span.last_heard.is_never()) heard = heard.is_never() ? span.last_heard : later(heard, span.last_heard);
    path = path || span.path.has_value();
  }
  v.session = l.alive(now(), config_->timing.peer_timeout) ? service::SessionState::kUp
              : path                                       ? service::SessionState::kHello
                                                           : service::SessionState::kDown;
  if (l.up()) v.key_id = static_cast<uint16_t>(l.session().session().seal->key_id().v);
  v.key_rotation = config_->spans[s].peer.keys.size() > 1;
  v.ever_heard = !heard.is_never();
  if (v.ever_heard) v.last_heard = now() - heard;
  v.version = kChannelVersion;
  v.peer_version = l.up() ? kChannelVersion : l.peer_version();
  if (v.session != service::SessionState::kUp) v.refused = v.trouble = l.refused(now());
  if (v.trouble.empty() && l.up() && v.session != service::SessionState::kUp) {
    v.trouble = "the peer has fallen silent: is its daemon running, is the span up?";
  }
  if (v.trouble.empty() && !l.up()) {
    v.trouble = path ? "no answer to HELLO: is the peer's daemon running, with the same key?"
                     : "nobody answers at the next hop: is the span up, and are the addresses right?";
  }
  v.sessions = l.sessions();
  v.restarts = l.restarts();
  const PeerCounters& n = l.session().counters();
  v.hello_refused = n.unknown_key + n.bad_seal + n.malformed + n.other_version;
  return v;
}

service::PortView Daemon::port_view(size_t s, Side side) const {
  const SpanConfig& span = config_->spans[s];
  const io::Port& p = machine_->ports[s].of(side);
  service::PortView v;
  v.span = span.name;
  v.side = side;
  v.name = span.name + (side == Side::kLan ? "-lan" : "-wan");
  v.device = side == Side::kLan ? span.lan.port : span.wan.port;
  v.kind = p.abilities().driver;
  v.mac = to_text(MacAddress{p.mac()});
  v.mtu = p.mtu();
  const io::LinkState link = p.link();
  v.link_up = link.up;
  v.removed = link.gone;
  v.speed_bps = uint64_t{link.mbps} * 1'000'000;
  v.queues = p.abilities().rx_queues;
  v.dispatch = machine_->workers.size() == 1   ? service::Dispatch::kSingle
               : machine_->dispatch != nullptr ? service::Dispatch::kSoftware
                                               : service::Dispatch::kRss;
  const io::PortStats n = p.stats();
  v.rx_packets = n.rx_packets;
  v.rx_bytes = n.rx_bytes;
  v.rx_missed = n.rx_missed;
  v.rx_errors = n.rx_errors;
  v.rx_no_buffer = n.rx_no_memory;
  v.tx_packets = n.tx_packets;
  v.tx_bytes = n.tx_bytes;
  v.tx_errors = n.tx_errors;
  for (uint16_t w = 0; w < machine_->workers.size(); ++w) {
    const io::QueueStats& q = p.queue_stats(w);
    v.rx_errors += q.rx_chained + q.rx_cut_off;
    v.rx_no_buffer += q.rx_no_copy;
    v.tx_full += q.tx_full;
    v.tx_link_down += q.tx_link_down;
    v.tx_too_long += q.tx_too_long;
  }
  return v;
}

bool Daemon::taken_down(const std::string& span) const {
  for (size_t s = 0; s < span_names_.size(); ++s)
    if (span_names_[s] == span) return span_links_[s].lan_taken_down;
  return false;
}

std::string Daemon::journal_trouble() const {
  if (journal_ == nullptr || journal_->in_place()) return "";
  return config_->journal_path +
         " was deleted or replaced: if this process dies, queue pairs hang that were promised what their "
         "receivers "
         "do not have; `ctl drain`, then restart the daemon";
}

std::vector<service::Condition> Daemon::conditions(const service::DaemonView& v) const {
  std::vector<service::Condition> out;
  for (const service::PeerView& peer : v.peers) {
    for (const service::PortView& port : v.ports) {
      if (port.span != peer.span) continue;
      out.push_back({port.span + (port.side == Side::kLan ? " LAN port" : " WAN port"), port.link_up,
                     port.removed   ? "its interface was removed: restart the daemon when it is back"
                     : port.link_up ? "link up"
                     : port.side == Side::kLan && taken_down(port.span)
                         ? "taken down with the WAN link (lan.link_loss_forwarding)"
                         : "link down: check the cable, or the interface"});
    }
    const bool up = peer.session == service::SessionState::kUp;
    out.push_back({peer.span + " peer", up, up ? "session up" : peer.trouble});
  }
  if (const std::string journal = journal_trouble(); !journal.empty())
    out.push_back({"journal", false, journal});
  if (stopping()) {
    out.push_back(
        {"drain", false, "the daemon is stopping: no new custody is taken, what is owned is delivered"});
  } else if (draining_) {
    out.push_back(
        {"drain", false, "draining: no new custody is taken; restart the daemon or `ctl reload` ends it"});
  }
  return out;
}

void Daemon::publish() {
  auto v = std::make_shared<service::DaemonView>();
  v->version = MATCHRDMA_VERSION;
  v->started_unix_s = started_unix_s_;
  v->uptime = now() - Instant{};
  v->cycles_per_second = 1'000'000'000;
  v->reloads = reloads_;
  v->reloads_refused = reloads_refused_;
  bool drained = draining_;
  for (const WorkerReport& r : reports_) {
    if (r.spans.empty()) return;  // not every worker has told yet
    v->workers.push_back(r.view);
    v->custody.push_back(r.custody);
    v->budgets.insert(v->budgets.end(), r.budgets.begin(), r.budgets.end());
    for (const SpanReport& s : r.spans) drained = drained && s.drained;
  }
  v->drain = !draining_ ? service::DrainState::kNo
             : drained  ? service::DrainState::kDrained
                        : service::DrainState::kDraining;
  for (size_t s = 0; s < span_names_.size(); ++s) {
    v->ports.push_back(port_view(s, Side::kLan));
    v->ports.push_back(port_view(s, Side::kWan));
    v->peers.push_back(peer_view(s));
  }
  for (size_t s = 0; s < span_names_.size(); ++s) {
    const EstimatorConfig& e = config_->spans[s].estimator;
    if (e.scheme != BudgetScheme::kFixed)
      v->slots.push_back(
          {span_names_[s], e.slot, now().ns / e.slot.ns, budgets_->history(s), budgets_->counts(s)});
  }
  v->conditions = conditions(*v);
  v->flows = flows_;
  if (flows_at_ != Instant::never()) v->flows_age = now() - flows_at_;
  v->config_text = config_text_;
  const service::ViewPtr before = board_.view();
  const service::ViewPtr seen = std::move(v);
  board_.publish(seen);
  tell_news(before.get(), *seen);
}

}  // namespace matchrdma::daemon
