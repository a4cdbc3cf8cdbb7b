// How the daemon ends: what it owns is delivered first, and then the wire is dark as shortly as can be.
#include "config/units.h"
#include "proxy/daemon/daemon.h"
#include "proxy/daemon/log.h"

namespace matchrdma::daemon {

void Daemon::begin_stop() {
  stop_asked_ = next_report_ = now();
  if (config_->stop_patience.ns == 0) {
    running_ = false;
    return;
  }
  notify_.stopping("draining");
  log().info("stopping: what is owned is delivered first, for at most " + to_text(config_->stop_patience) +
             " (stop_patience); a second signal ends it at once");
  static_cast<void>(drain());
}

// Nothing is owned that could be lost, or it has taken too long. A peer that is not there answers no drain.
bool Daemon::may_stop() const {
  if (stop_asked_ + config_->stop_patience <= now()) return true;
  for (const WorkerReport& r : reports_) {
    if (r.at <= stop_asked_) return false;  // it may have promised something since
    for (size_t s = 0; s < r.spans.size(); ++s) {
      const bool answers = links_[s]->alive(now(), config_->timing.peer_timeout);
      if (!r.spans[s].drained && (answers || r.spans[s].owned_bytes != 0)) return false;
    }
  }
  return true;
}

void Daemon::leave() {
  notify_.stopping("stopping");
  if (capture_status().running) {
    capture_->stop(now());
    log().info("capture " + capture_->status().file + " has ended with the daemon");
  }
  service::remove_admin_socket(config_->admin.socket);
  restore_lan_links();
  // From here the wire is dark until the next life forwards. What else there is goes with the process: giving
  // it back first would only take time.
  stop_ = true;
  for (auto& i : machine_->idle) i->wake();
  machine_->eal->join();
  tell_owned();
  for (PortPair& p : machine_->ports) {
    for (auto* port : {&p.lan, &p.wan})
      if (!(*port)->abilities().ends_with_process) port->reset();
  }
  io::Eal::leave();
  log().info("stopped");
  log().flush();
}

// The workers have ended: their shards may be looked at from here.
void Daemon::tell_owned() const {
  uint64_t packets = 0, bytes = 0, flows = 0;
  for (const auto& w : machine_->workers) {
    for (size_t s = 0; s < w->ends(); ++s) {
      const Shard& shard = w->end(s).shard();
      if (shard.counters().custody_packets == 0) continue;
      packets += shard.counters().custody_packets;
      bytes += shard.counters().custody_bytes;
      for (const FlowView& f : shard.flows()) flows += f.owned_packets != 0 ? 1 : 0;
    }
  }
  if (packets == 0) return;
  log().warn("stopped while " + std::to_string(packets) + " packets (" + std::to_string(bytes) + " bytes) of " +
             std::to_string(flows) + " queue pairs were owned: those that were promised them " +
             (journal_ != nullptr ? "are failed by the next start (journal.path)"
                                  : "hang until their hosts give up (no journal.path)"));
}

}  // namespace matchrdma::daemon
