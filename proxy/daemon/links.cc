// Loss forwarding (H14): a LAN port follows the link of its WAN port, so that the hosts' network finds another
// way.
#include "proxy/daemon/daemon.h"
#include "proxy/daemon/log.h"

namespace matchrdma::daemon {
namespace {

constexpr Duration kPollEvery = Duration::millis(10);

void tell_link(const std::string& where, const io::LinkState& link) {
  if (link.gone) {
    log().error("span " + where + " interface was removed: restart the daemon when it is back");
  } else {
    log().warn("span " + where + " link " + (link.up ? "up" : "down"));
  }
}

}  // namespace

void Daemon::poll_links() {
  next_link_poll_ = now() + kPollEvery;
  for (size_t s = 0; s < machine_->ports.size(); ++s) {
    PortPair& p = machine_->ports[s];
    if (const auto lan = p.lan->poll_link()) tell_link(span_names_[s] + ": LAN", *lan);
    const auto news = p.wan->poll_link();
    if (news && news->up != span_links_[s].wan_up) {
      span_links_[s].wan_up = news->up;
      tell_link(span_names_[s] + ": WAN", *news);
    }
    follow_wan_link(s);
  }
}

// By what should be, not by what has changed: a reload may end it, and a life before may have died in between.
void Daemon::follow_wan_link(size_t s) {
  SpanLinks& l = span_links_[s];
  const PortPair& p = machine_->ports[s];
  const bool forwards = config_->spans[s].lan.link_loss_forwarding;
  bool left_down = false;
  if (!l.seen) {
    l.seen = true;
    l.wan_up = p.wan->link().up;  // a port that starts without a link has no news
    const io::LinkState lan = p.lan->link();
    left_down = forwards && l.wan_up && !lan.up && !lan.gone;
  }
  const bool down = forwards && !l.wan_up;
  if (down == l.lan_taken_down && !left_down) return;
  l.lan_taken_down = down;
  switch_lan(s, !down);
}

void Daemon::switch_lan(size_t s, bool up) {
  const std::string where = "span " + span_names_[s] + ": ";
  if (const auto r = machine_->ports[s].lan->set_link(up); !r) {
    log().error(where + "the LAN link cannot follow: " + r.error());
    return;
  }
  log().warn(where + "the LAN link is taken " + (up ? "up" : "down") +
             " with the WAN's (lan.link_loss_forwarding)");
}

// Without us nobody would.
void Daemon::restore_lan_links() {
  for (size_t s = 0; s < span_links_.size(); ++s)
    if (span_links_[s].lan_taken_down) switch_lan(s, true);
}

// ARP and ND answers arrive at one worker; all of them send datagrams.
void Daemon::share_paths() {
  for (size_t s = 0; s < span_names_.size(); ++s) {
    const ControlPath* found = nullptr;
    for (const WorkerReport& r : reports_) {
      if (s < r.spans.size() && r.spans[s].path) found = &*r.spans[s].path;
    }
    if (found == nullptr) continue;
    for (const WorkerReport& r : reports_) {
      if (s >= r.spans.size() || r.spans[s].path) continue;
      DpdkWorker& w = *machine_->workers[r.view.worker];
      w.mailbox().post([&w, s, path = *found] { w.end(s).set_path(path); });
    }
  }
}

}  // namespace matchrdma::daemon
