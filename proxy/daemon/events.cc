// What an operator reads in the log without having asked: peers that fall silent, QPs that had to fail.
#include "config/net.h"
#include "proxy/daemon/daemon.h"
#include "proxy/daemon/log.h"

namespace matchrdma::daemon {
namespace {

constexpr Duration kStrangersEvery = Duration::seconds(60);
constexpr size_t kNamed = 10;  ///< QPs named in the log at one time; the rest is counted

using service::DaemonView;

uint64_t idle_faults(const DaemonView& v) {
  uint64_t n = 0;
  for (const service::WorkerView& w : v.workers) n += w.counters.idle_fault_events;
  return n;
}

}  // namespace

std::string Daemon::status_text() const {
  const service::ViewPtr v = board_.view();
  if (!v) return "running";
  if (stopping()) return "draining";
  if (draining_) return v->drain == service::DrainState::kDrained ? "drained: it may stop" : "draining";
  for (const service::Condition& c : v->conditions) {
    if (!c.holds) return "not ready: " + c.name + ": " + c.text;
  }
  return "ready";
}

// HELLOs come all the time: told once, and anew after a session.
void Daemon::tell_refusal(size_t span, const service::PeerView& peer, bool told_already) {
  std::set<std::string>& told = refusals_told_[span];
  if (peer.session == service::SessionState::kUp) {
    told.clear();
  } else if (!peer.refused.empty() && told.insert(peer.refused).second && !told_already) {
    log().warn("span " + span_names_[span] + ": " + peer.refused);
  }
}

// Strangers may come all the time, too.
void Daemon::tell_strangers() {
  if (registration_ == nullptr || now() < strangers_at_) return;
  const service::LineServerCounters& n = registration_->counters();
  const uint64_t untrusted = n.untrusted - strangers_told_.untrusted;
  const uint64_t turned_away = n.turned_away - strangers_told_.turned_away;
  if (untrusted + turned_away == 0) return;
  log().warn("register: " + std::to_string(untrusted) +
             " clients left without showing a key of register.psk_file, " + std::to_string(turned_away) +
             " were turned away because there were too many (told once a minute)");
  strangers_told_ = n;
  strangers_at_ = now() + kStrangersEvery;
}

// `before`: what was published last, or nothing.
void Daemon::tell_news(const DaemonView* before, const DaemonView& now_seen) {
  for (size_t s = 0; s < now_seen.peers.size(); ++s) {
    const bool was_up = before != nullptr && before->peers[s].session == service::SessionState::kUp;
    const bool is_up = now_seen.peers[s].session == service::SessionState::kUp;
    if (was_up && !is_up) log().warn("span " + span_names_[s] + ": " + now_seen.peers[s].trouble);
    if (!was_up && is_up) log().info("span " + span_names_[s] + ": the peer is there");
    tell_refusal(s, now_seen.peers[s], was_up);
  }
  const std::string journal = journal_trouble();
  if (!journal.empty() && journal != journal_told_) log().error("journal: " + journal);
  journal_told_ = journal;
  const uint64_t idle = idle_faults(now_seen) - (before != nullptr ? idle_faults(*before) : 0);
  if (idle != 0) {
    log().error(
        std::to_string(idle) +
        " QPs were failed whose senders had nothing outstanding: they cannot be told, and believe that all "
        "was delivered; their names follow (docs/reliability.md)");
  }
  tell_strangers();
  const std::string status = status_text();
  if (status != status_told_) notify_.status(status);
  status_told_ = status;
}

void Daemon::tell_failed_flows() {
  std::set<std::string> failed;  // sentences
  for (const service::FlowRow& r : flows_->flows) {
    if (!r.flow.source || std::string_view(r.flow.state) != "poisoned") continue;
    failed.insert("span " + r.span + ": QP " + std::to_string(r.flow.sender_qpn.v) + " of " +
                  to_text(r.flow.key.src) + ", which sends to QP " + std::to_string(r.flow.key.dst_qpn.v) +
                  " of " + to_text(r.flow.key.dst) + ", is failed: " +
                  (r.flow.untold
                       ? "its sender is idle and believes that all was delivered; its next request is "
                         "answered with a fatal NAK"
                       : "its requests are answered with a fatal NAK"));
  }
  size_t named = 0, more = 0;
  for (const std::string& f : failed) {
    if (failed_told_.contains(f)) continue;
    if (++named > kNamed) {
      ++more;
    } else {
      log().warn(f);
    }
  }
  if (more != 0) log().warn(std::to_string(more) + " more QPs are failed; `ctl show flows --state poisoned`");
  failed_told_ = std::move(failed);
}

}  // namespace matchrdma::daemon
