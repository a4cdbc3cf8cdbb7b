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
    if (!config_->spans[s].lan.link_loss_forwarding) continue;
    if (const auto r = p.lan->set_link(news->up); !r) {
      log().error("span " + span_names_[s] + ": the LAN link cannot follow: " + r.error());
    }
  }
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
