#pragma once
// The running daemon: workers on their lcores, and the control thread that serves peers, operators and
// scrapers.
#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "config/config.h"
#include "controlplane/service/commands.h"
#include "controlplane/service/http_server.h"
#include "controlplane/service/listeners.h"
#include "controlplane/service/view_board.h"
#include "proxy/daemon/budget_thread.h"
#include "proxy/daemon/capture_run.h"
#include "proxy/daemon/journal_file.h"
#include "proxy/daemon/notify.h"
#include "proxy/daemon/peer_link.h"
#include "proxy/daemon/report.h"
#include "proxy/daemon/start.h"

namespace matchrdma::daemon {

/// Duty: owns everything and wires it. Constructed and run by the main thread, which is the control thread.
/// Orders for workers go through their mailboxes; what comes back comes through its own.
class Daemon final : public service::DaemonControl {
 public:
  /// `config_path`: read again on reload.
  static Result<std::unique_ptr<Daemon>> start(std::shared_ptr<const Config> config, std::string config_path);
  ~Daemon() override;
  Daemon(const Daemon&) = delete;

  /// Until SIGTERM or SIGINT, and until what is owned then is delivered; a second one ends it at once. SIGHUP
  /// reloads. The process must end without destroying the daemon: memory and devices go faster with it.
  void run();
  const std::vector<std::string>& sizes() const { return machine_->sizes; }
  const std::vector<std::string>& warnings() const { return machine_->warnings; }

  // orders.cc
  Result<service::Progress> register_pair(const service::PairRequest& pair) override;
  Result<service::Progress> unregister_pair(const service::PairRequest& pair) override;
  Result<std::string> set_mode(const service::ModeRequest& request) override;
  Result<service::Progress> drain() override;
  Result<std::string> reload() override;
  Result<std::string> capture_start(const service::CaptureRequest& request) override;
  Result<service::CaptureStatus> capture_stop() override;
  service::CaptureStatus capture_status() const override;

 private:
  /// The links of a span's ports.
  struct SpanLinks {
    bool wan_up = true;
    bool lan_taken_down = false;  ///< by us, with the WAN link
    bool seen = false;            ///< looked at since the start
  };
  /// What an order has come to, told by the workers.
  struct Answer {
    Registered refused = Registered::kYes;
    bool done = false;
    Instant asked;       ///< by whom it is meant for, the newest time
    bool first = false;  ///< nobody had asked before
  };

  Daemon(std::shared_ptr<const Config> config, std::string config_path);

  // daemon.cc: making and running
  Result<void> make();
  Result<void> make_ends();
  void make_budget_thread();
  Result<void> make_services();
  void read_journal();
  SpanEndHooks hooks_of(size_t span, uint16_t worker);
  void make_link(size_t span);
  void loop_once();
  void on_signal();
  Instant now() const { return machine_->clock->now(); }
  Instant next_wakeup() const;

  // stop.cc
  void begin_stop();
  bool stopping() const { return !stop_asked_.is_never(); }
  bool may_stop() const;
  void leave();
  void tell_owned() const;

  // links.cc: link loss forwarding (H14), paths found by one worker
  void poll_links();
  void follow_wan_link(size_t span);
  void switch_lan(size_t span, bool up);
  void restore_lan_links();
  void share_paths();

  // views.cc
  void ask_reports();
  void take_report(WorkerReport r);
  void ask_flows();
  void walk_flows(DpdkWorker& w, const std::shared_ptr<FlowWalk>& walk);
  void take_flows(uint16_t worker, const std::shared_ptr<const FlowWalk>& walk);
  void publish();
  bool taken_down(const std::string& span) const;
  std::string journal_trouble() const;  ///< empty: none
  std::vector<service::Condition> conditions(const service::DaemonView& v) const;
  service::PeerView peer_view(size_t span) const;
  service::PortView port_view(size_t span, Side side) const;

  // events.cc
  void tell_news(const service::DaemonView* before, const service::DaemonView& now_seen);
  void tell_failed_flows();
  void tell_refusal(size_t span, const service::PeerView& peer, bool told_already);
  void tell_strangers();
  std::string status_text() const;

  // orders.cc
  Result<size_t> span_of(const service::PairRequest& pair) const;
  std::shared_ptr<Answer> answer_to(const std::string& order);
  std::vector<DpdkWorker*> workers_of(const FlowKey& key) const;
  /// One for each span. `also`: names of classes that are transparent beside the silenced ones.
  std::vector<std::shared_ptr<const PolicyTable>> policies(const std::set<std::string>& also = {}) const;
  void drain_class(const std::string& name);
  void spread_policy();
  template <class F>
  void each_end(F f);
  void pump_capture();

  std::shared_ptr<const Config> config_;
  std::string config_path_, config_text_;  ///< the text is `config_` as it is shown
  std::vector<std::string> span_names_;
  std::unique_ptr<Machine> machine_;
  std::unique_ptr<JournalFile> journal_;
  std::unique_ptr<BudgetThread> budgets_;
  std::vector<std::unique_ptr<PeerLink>> links_;  ///< one per span
  std::atomic<bool> stop_{false};
  bool running_ = true;
  Instant stop_asked_ = Instant::never();
  Notify notify_;

  Mailbox mailbox_;  ///< from workers
  FileDescriptor wake_, signals_;
  service::ViewBoard board_;
  service::Commands commands_{*this, board_};
  std::unique_ptr<service::LineServer> admin_, registration_;
  std::unique_ptr<service::HttpServer> http_;

  std::vector<WorkerReport> reports_;  ///< newest of each worker
  std::vector<std::shared_ptr<const FlowWalk>> walks_;
  std::shared_ptr<const service::FlowList> flows_ = std::make_shared<const service::FlowList>();
  Instant flows_at_ = Instant::never();
  Instant next_report_, next_flows_, next_link_poll_;
  std::vector<SpanLinks> span_links_;
  std::string status_told_;                           ///< to the service manager
  std::string journal_told_;                          ///< the trouble that the log knows of
  std::vector<std::set<std::string>> refusals_told_;  ///< by span
  service::LineServerCounters strangers_told_;
  Instant strangers_at_;               ///< not earlier
  std::set<std::string> failed_told_;  ///< QPs that the log has named and that are failed still
  uint64_t reloads_ = 0, reloads_refused_ = 0;
  int64_t started_unix_s_ = 0;

  std::set<std::string> silenced_;  ///< classes that `ctl mode` made transparent
  bool draining_ = false;
  std::unique_ptr<CaptureRun> capture_;                    ///< the newest, also when it has ended
  std::map<std::string, std::shared_ptr<Answer>> orders_;  ///< registrations under way, by their text
};

}  // namespace matchrdma::daemon
