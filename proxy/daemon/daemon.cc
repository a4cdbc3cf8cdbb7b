#include "proxy/daemon/daemon.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <utility>

#include "config/net.h"
#include "config/print.h"
#include "proxy/daemon/capabilities.h"
#include "proxy/daemon/log.h"
#include "proxy/daemon/start_end.h"

namespace matchrdma::daemon {
namespace {

constexpr Duration kReportEvery = Duration::millis(500);
constexpr Duration kLookEvery = Duration::millis(10);  ///< for the end of a drain
constexpr Duration kFlowsEvery = Duration::seconds(2);

NeighbourConfig neighbour_of(const SpanConfig& s, const Mac& mac) {
  NeighbourConfig n;
  n.self = {mac, s.wan.address.address, s.wan.vlan};
  n.prefix_bits = s.wan.address.bits;
  n.peer = s.peer.address;
  n.gateway = s.wan.gateway;
  if (s.peer.mac) n.peer_mac = s.peer.mac->b;
  return n;
}

PauseConfig pause_of(const LanConfig& c, const io::Port& port) {
  PauseConfig p;
  p.mac = port.mac();
  for (const uint8_t priority : c.pfc) p.priorities |= static_cast<uint8_t>(1u << priority);
  constexpr uint64_t kUsualMbps = 100'000;  // where the port does not know
  const uint64_t mbps = port.link().mbps;
  p.port_bps = (mbps == 0 || mbps == UINT32_MAX ? kUsualMbps : mbps) * 1'000'000;
  return p;
}

// High half of flow ids: never the same twice over restarts.
uint32_t random_instance() {
  std::array<uint8_t, 4> b{};
  SystemEntropy().fill(b);
  return load_be32(b.data());
}

}  // namespace

Daemon::Daemon(std::shared_ptr<const Config> config, std::string config_path)
    : config_(std::move(config)),
      config_path_(std::move(config_path)),
      config_text_(print_config(*config_)),
      started_unix_s_(std::time(nullptr)) {
  for (const SpanConfig& s : config_->spans) span_names_.push_back(s.name);
}

Result<std::unique_ptr<Daemon>> Daemon::start(std::shared_ptr<const Config> config, std::string config_path) {
  auto d = std::unique_ptr<Daemon>(new Daemon(std::move(config), std::move(config_path)));
  if (auto r = d->make(); !r) return Error{r.error()};
  return d;
}

Result<void> Daemon::make() {
  if (auto r = raise_capabilities(); !r) return r;
  ::umask(0077);  // captures hold what users send each other
  auto notify = Notify::from_environment();
  if (!notify) return Error{notify.error()};
  notify_ = std::move(*notify);
  // Before any thread is started: workers and web server inherit the mask.
  sigset_t set;
  sigemptyset(&set);
  for (const int s : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, s);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  signals_ = FileDescriptor(signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
  wake_ = FileDescriptor(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (signals_.get() < 0 || wake_.get() < 0)
    return Error{std::string("no descriptor: ") + std::strerror(errno)};
  mailbox_.set_wake([fd = wake_.get()] {
    const uint64_t one = 1;
    static_cast<void>(!write(fd, &one, sizeof one));
  });

  {
    const EndsAtOnce while_starting;
    auto machine = start_machine(*config_);
    if (!machine) return Error{machine.error()};
    machine_ = std::move(*machine);
  }
  span_links_.resize(config_->spans.size());
  refusals_told_.resize(config_->spans.size());
  reports_.resize(machine_->workers.size());
  walks_.resize(machine_->workers.size());
  if (config_->journal_path.empty()) {
    log().warn(
        "no journal: if this process dies, queue pairs that were promised what their receivers do not have "
        "hang until their hosts give up; write journal.path");
  } else {
    const auto workers = static_cast<uint32_t>(machine_->workers.size());
    auto j = JournalFile::open(config_->journal_path, {span_names_, workers, machine_->limits.max_flows});
    if (!j) return Error{j.error()};
    journal_ = std::move(*j);
  }
  if (auto r = make_ends(); !r) return r;
  if (auto r = make_services(); !r) return r;
  return budgets_->start();
}

SpanEndHooks Daemon::hooks_of(size_t span, uint16_t worker) {
  SpanEndHooks h;
  h.hello = [this, span](Bytes b) {
    mailbox_.post(
        [this, span, d = std::vector<uint8_t>(b.begin(), b.end())] { links_[span]->hello(d, now()); });
  };
  h.other_worker = [this, span](uint16_t to, Bytes b) {
    if (to >= machine_->workers.size()) return;
    DpdkWorker& w = *machine_->workers[to];
    w.mailbox().post(
        [&w, span, d = std::vector<uint8_t>(b.begin(), b.end())] { w.end(span).from_other_worker(d); });
  };
  h.slots_seen = [this](bool urgent) { budgets_->told(urgent); };
  if (journal_ != nullptr) {
    const uint32_t section = journal_->section(static_cast<uint32_t>(span), worker);
    h.journal = [j = journal_.get(), section](const JournalRecord& r) { j->write(section, r); };
  }
  return h;
}

void Daemon::make_budget_thread() {
  std::vector<BudgetSpan> spans;
  for (size_t s = 0; s < config_->spans.size(); ++s) {
    const SpanConfig& c = config_->spans[s];
    if (c.estimator.scheme == BudgetScheme::kFixed) continue;
    const Scheme scheme = c.estimator.scheme == BudgetScheme::kPaper ? Scheme::kPaper : Scheme::kEarned;
    spans.push_back({s, {c.estimator.slot, c.line_rate(), scheme, c.queue_target()}});
  }
  budgets_ = std::make_unique<BudgetThread>(
      std::move(spans), static_cast<uint32_t>(machine_->workers.size()), machine_->limits.max_groups,
      [this] { return now(); },
      [this](uint32_t w) {
        if (!machine_->idle.empty()) machine_->idle[w]->wake();
      });
}

Result<void> Daemon::make_ends() {
  make_budget_thread();
  const auto policy = policies();
  for (uint16_t w = 0; w < machine_->workers.size(); ++w) {
    for (size_t s = 0; s < config_->spans.size(); ++s) {
      SpanEndConfig e;
      e.worker = w;
      e.shard.limits = machine_->limits;
      e.shard.timing = timing_of(*config_, s);
      e.shard.tuning = config_->tuning_of(s);
      e.shard.instance = random_instance();
      e.neighbour = neighbour_of(config_->spans[s], machine_->ports[s].wan->mac());
      e.budgets = budgets_->lane(s, w);
      e.drop_l2_control = config_->spans[s].l2_control == L2Control::kDrop;
      e.shard.pause = pause_of(config_->spans[s].lan, *machine_->ports[s].lan);
      auto end = std::make_unique<SpanEnd>(e, *machine_->pools[w], hooks_of(s, w));
      end->set_policy(policy[s], now());
      machine_->workers[w]->add(std::move(end));
    }
  }
  for (size_t s = 0; s < config_->spans.size(); ++s) {
    make_link(s);
    if (auto r = links_[s]->set_keys(config_->spans[s].peer, now()); !r) return r;
  }
  read_journal();
  return {};
}

void Daemon::make_link(size_t span) {
  PeerLink::Hooks h;
  DpdkWorker& first = *machine_->workers[0];
  h.send = [&first, span](Bytes b) {
    first.mailbox().post(
        [&first, span, d = std::vector<uint8_t>(b.begin(), b.end())] { first.end(span).send_hello(d); });
  };
  h.keys = [this, span](const SessionSnapshot& s, bool started) {
    for (auto& w : machine_->workers) {
      w->mailbox().post([this, &w = *w, span, s, started] { w.end(span).set_session(s, started, now()); });
    }
  };
  h.tell = [](const std::string& sentence) { log().info(sentence); };
  const Offer offer{0, static_cast<uint16_t>(machine_->workers.size()), machine_->limits.max_flows};
  links_.push_back(std::make_unique<PeerLink>(span_names_[span], offer, now(), std::move(h)));
}

// H13: what the last life promised and did not see confirmed fails now, loudly.
void Daemon::read_journal() {
  if (journal_ == nullptr) return;
  for (const JournaledPromise& p : journal_->findings().promised) {
    const std::string what = "journal: QP " + std::to_string(p.record.sender_qpn.v) + " of " +
                             to_text(p.record.key.src) + " was acknowledged what " + to_text(p.record.key.dst) +
                             " may not have";
    if (!p.configured) {
      log().warn(what + "; its span " + p.span + " is not in the config any more: end that QP by hand");
      continue;
    }
    log().warn(what + ": it is failed on its next packet");
    for (DpdkWorker* w : workers_of(p.record.key))
      w->end(p.record.key.port_pair).poison_journaled(p.record, now());
  }
  if (const uint64_t n = journal_->findings().unreadable; n != 0) {
    log().error("journal: " + std::to_string(n) +
                " records are damaged: QPs may hang that were promised what their receivers do not have");
  }
  if (!journal_->findings().same_boot && !journal_->findings().promised.empty()) {
    log().warn(
        "journal: this machine has started anew since, so the newest half minute may be missing: QPs may hang "
        "that were promised what their receivers do not have");
  }
  journal_->forget();
}

Result<void> Daemon::make_services() {
  service::AdminSocketOptions a;
  a.path = config_->admin.socket;
  a.mode = config_->admin.mode;
  a.group = config_->admin.group;
  auto admin = service::open_admin_socket(a, commands_);
  if (!admin) return Error{admin.error()};
  admin_ = std::move(*admin);
  if (config_->registration) {
    service::RegisterListenerOptions r;
    r.address = to_text(config_->registration->listen.address);
    r.port = config_->registration->listen.port;
    r.psk_file = config_->registration->psk_file;
    auto l = service::open_register_listener(r, commands_);
    if (!l) return Error{l.error()};
    registration_ = std::move(*l);
  }
  if (config_->metrics) {
    auto h = service::HttpServer::start({to_text(config_->metrics->address), config_->metrics->port},
                                        service::service_pages(board_));
    if (!h) return Error{"metrics.listen: " + h.error()};
    http_ = std::move(*h);
  }
  return {};
}

// Of one that could not start: no worker runs.
Daemon::~Daemon() {
  if (admin_ != nullptr) service::remove_admin_socket(config_->admin.socket);
}

void Daemon::run() {
  for (uint32_t w = 0; w < machine_->workers.size(); ++w) {
    const auto launched = machine_->eal->launch(w, [this, w] { machine_->workers[w]->run(stop_); });
    MRDMA_CHECK(launched.ok());
  }
  notify_.ready(status_text());
  while (running_) loop_once();
  leave();
}

Instant Daemon::next_wakeup() const {
  Instant at = earlier(earlier(next_report_, next_flows_), next_link_poll_);
  for (const auto& l : links_) at = earlier(at, l->next_wakeup());
  at = earlier(at, admin_->next_wakeup());
  return registration_ != nullptr ? earlier(at, registration_->next_wakeup()) : at;
}

void Daemon::loop_once() {
  std::vector<pollfd> fds{{wake_.get(), POLLIN, 0}, {signals_.get(), POLLIN, 0}};
  admin_->fds(fds, now());
  if (registration_ != nullptr) registration_->fds(fds, now());
  const int64_t wait_ms = std::clamp<int64_t>((next_wakeup() - now()).ns / 1'000'000 + 1, 0, 200);
  ::poll(fds.data(), fds.size(), static_cast<int>(wait_ms));
  if (fds[0].revents != 0) {
    uint64_t count = 0;
    static_cast<void>(!read(wake_.get(), &count, sizeof count));
  }
  mailbox_.drain();
  if (fds[1].revents != 0) on_signal();
  const Instant t = now();
  for (auto& l : links_) l->poll(t);
  admin_->on_ready(fds, t);
  if (registration_ != nullptr) registration_->on_ready(fds, t);
  if (next_link_poll_ <= t) poll_links();
  pump_capture();
  if (next_flows_ <= t) {
    ask_flows();
    next_flows_ = t + kFlowsEvery;
  }
  if (next_report_ <= t) {
    ask_reports();
    next_report_ = t + (stopping() ? kLookEvery : kReportEvery);
    notify_.watchdog();
  }
  if (stopping() && may_stop()) running_ = false;
}

void Daemon::on_signal() {
  signalfd_siginfo s{};
  while (read(signals_.get(), &s, sizeof s) == static_cast<ssize_t>(sizeof s)) {
    if (s.ssi_signo == SIGHUP && stopping()) {
      log().warn("SIGHUP is ignored: the daemon is stopping");
    } else if (s.ssi_signo == SIGHUP) {
      timespec t{};
      clock_gettime(CLOCK_MONOTONIC, &t);
      notify_.reloading(Duration{int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec});
      static_cast<void>(reload());  // it tells the log
      notify_.ready(status_text());
    } else if (stopping()) {
      log().warn("stopping at once: a second signal has come");
      running_ = false;
    } else {
      begin_stop();
    }
  }
}

}  // namespace matchrdma::daemon
