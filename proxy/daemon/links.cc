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
    if (!news || news->up == wan_up_[s]) continue;
    wan_up_[s] = news->up;
    tell_link(span_names_[s] + ": WAN", *news);
  }
  for (size_t s = 0; s < machine_->ports.size(); ++s) follow_wan_link(s);
}

// By what should be, not by what has changed: a reload may end it, and a life before may have died in between.
void Daemon::follow_wan_link(size_t s) {
  if (!lan_seen_[s])
    wan_up_[s] = machine_->ports[s].wan->link().up;  // a port that starts without a link has no news
  const bool forwards = config_->spans[s].lan.link_loss_forwarding;
  const bool down = forwards && !wan_up_[s];
  const io::LinkState lan = machine_->ports[s].lan->link();
  const bool left_down = !lan_seen_[s] && forwards && wan_up_[s] && !lan.up && !lan.gone;
  lan_seen_[s] = true;
  if (down == lan_taken_down_[s] && !left_down) return;
  lan_taken_down_[s] = down;
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
  for (size_t s = 0; s < lan_taken_down_.size(); ++s)
    if (lan_taken_down_[s]) switch_lan(s, true);
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
