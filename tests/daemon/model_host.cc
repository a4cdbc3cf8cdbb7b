// Two hosts with model NICs (model/), each on an interface of the kernel, whatever stands between these: their
// queue pairs, numbered on the command line, write, send and read, and the model compares every byte, header
// and execution with what the other end meant. Both hosts are in one program because only who knows both ends
// can tell. Time is the machine's. One JSON line for each round; SIGUSR1 starts the next one, SIGTERM ends the
// posting. Exit code 1: something was wrong, or did not finish.
#include <sys/signalfd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "config/net.h"
#include "config/units.h"
#include "dataplane/wire/source_port.h"
#include "model/audit.h"
#include "model/host.h"
#include "model/packet_arena.h"
#include "model/workload.h"
#include "tests/daemon/raw_link.h"

namespace {

using namespace matchrdma;
using daemon_tests::RawLink;

struct Options {
  std::string a, b, ip_a = "10.1.1.1", ip_b = "10.2.1.1", work = "send,write,read,atomic", rate = "20Mbps";
  std::string max_length = "16KiB", timeout = "10s", patience = "60s", lose = "0";
  std::vector<std::string> pairs;
  bool both = false, early = false;
  uint64_t messages = 100, rounds = 1, depth = 4, seed = 1;
  uint32_t mtu = 1024;
  int retries = 7;
};

template <class T>
T or_die(Result<T> r) {
  if (r) return std::move(*r);
  std::cerr << "model_host: " << r.error() << '\n';
  std::exit(2);
}

Instant now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return {int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec};
}

const char* why(model::WcStatus s) {
  switch (s) {
    case model::WcStatus::kRetryExceeded:
      return "retry exceeded";
    case model::WcStatus::kRnrRetryExceeded:
      return "RNR retry exceeded";
    case model::WcStatus::kRemoteInvalidRequest:
      return "remote invalid request";
    case model::WcStatus::kRemoteAccess:
      return "remote access";
    case model::WcStatus::kRemoteOperation:
      return "remote operation";
    default:
      return "flushed";
  }
}

/// One of the two hosts and its cable.
class End {
 public:
  End(const std::string& interface, const model::HostConfig& config, double lose, uint64_t seed,
      PacketPool& pool)
      : host(config, pool), link_(or_die(RawLink::open(interface))), lose_(lose), prng_(seed) {}

  void receive(Instant t) {
    for (int i = 0; i < kBurst; ++i) {
      const Bytes frame = link_->receive();
      if (frame.empty()) return;
      if (!lost()) host.on_packet(frame, t);
    }
  }
  /// False: the link takes no more just now.
  bool send(Instant t) {
    for (int i = 0; i < kBurst; ++i) {
      if (!waiting_) {
        waiting_ = host.poll(t);
        if (waiting_ && lost()) {
          waiting_.reset();
          continue;
        }
      }
      if (!waiting_) return true;
      if (!link_->send(waiting_->bytes())) return false;
      waiting_.reset();
    }
    return true;
  }
  pollfd readable() const { return link_->readable(); }

  model::Host host;

 private:
  static constexpr int kBurst = 64;
  bool lost() { return lose_ > 0 && prng_.chance(lose_); }
  std::unique_ptr<RawLink> link_;
  double lose_;
  Prng prng_;
  PacketRef waiting_;
};

class Run {
 public:
  explicit Run(const Options& o)
      : o_(o),
        a_(o.a, host_config(), lose(), o.seed * 2, arena_),
        b_(o.b, host_config(), lose(), o.seed * 2 + 1, arena_),
        prng_(o.seed) {
    for (const std::string& text : o.pairs) connect(text);
    sigset_t set;
    sigemptyset(&set);
    for (const int s : {SIGTERM, SIGINT, SIGUSR1}) sigaddset(&set, s);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    signals_ = FileDescriptor(signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
    work_.path_mtu = o.mtu;
    work_.max_length = static_cast<uint32_t>(or_die(parse_bytes("--max-length", o.max_length)));
    const auto wants = [&](const char* kind) { return ("," + o.work + ",").find(kind) != std::string::npos; };
    work_.sends = wants(",send,");
    work_.writes = wants(",write,");
    work_.reads = wants(",read,");
    work_.atomics = wants(",atomic,");
  }

  /// True when nothing was wrong.
  bool run() {
    const Duration patience = or_die(parse_duration("--patience", o_.patience));
    bool good = true;
    for (uint64_t round = 1; round <= o_.rounds && !ending_; ++round) {
      for (Side& s : sides_) s.left = o_.messages;
      bool finished = false;
      for (Instant moved = now(); !finished && now() - moved < patience;) {
        const int64_t before = progress();
        step();
        finished = at_rest();
        if (progress() != before) moved = now();
      }
      // The last ACKs, and answers to whoever missed them.
      for (const Instant end = now() + kLinger; now() < end;) step();
      good = report(round, finished) && good;
      next_ = false;
      while (round < o_.rounds && !next_ && !ending_) step();
    }
    return good;
  }

 private:
  /// One direction of a queue pair.
  struct Side {
    model::Qp* sender;
    const model::Qp* receiver;
    const model::MemoryConfig* remote;
    uint64_t left = 0;
  };

  model::HostConfig host_config() const {
    model::HostConfig c;
    c.tx_rate = or_die(parse_rate("--rate", o_.rate));
    return c;
  }

  double lose() const { return or_die(parse_probability("--lose", o_.lose)); }

  void connect(const std::string& text) {
    model::PairConfig c;
    std::array<uint32_t*, 4> numbers{&c.qpn_a.v, &c.start_a.v, &c.qpn_b.v, &c.start_b.v};
    std::istringstream in(text);
    for (uint32_t* n : numbers) {
      std::string word;
      std::getline(in, word, ',');
      *n = static_cast<uint32_t>(or_die(parse_whole("--pair", word, 0, 0xffffff, "write QPN,PSN,QPN,PSN")));
    }
    c.path.mac_src = {0x02, 0, 0, 0, 0, 1};
    c.path.mac_dst = {0x02, 0, 0, 0, 0, 2};
    c.path.src = or_die(of_option("--ip-a", o_.ip_a, parse_address(o_.ip_a)));
    c.path.dst = or_die(of_option("--ip-b", o_.ip_b, parse_address(o_.ip_b)));
    c.path.udp_source_port = hashed_source_port(c.qpn_a, c.qpn_b);
    c.path_mtu = o_.mtu;
    c.requester_a.timeout = or_die(parse_duration("--timeout", o_.timeout));
    c.requester_a.retry_count = o_.retries;
    c.requester_b = c.requester_a;
    c.memory_b.key = 2;
    c.memory_b.rkey = 0x4321;
    c.seed = o_.seed * 1000 + pairs_.size();
    pairs_.push_back(model::connect(a_.host, b_.host, c));
    const model::QpPair& p = pairs_.back();
    sides_.push_back({p.a, p.b, &p.b->responder.memory().config()});
    if (o_.both) sides_.push_back({p.b, p.a, &p.a->responder.memory().config()});
  }

  /// One pass over everything, then sleep until something is due.
  void step() {
    const Instant t = now();
    post(t);
    bool room = true;
    for (End* e : {&a_, &b_}) {
      e->receive(t);
      room = e->send(t) && room;
    }
    const Instant after = now();
    Duration wait =
        earlier(earlier(a_.host.next_deadline(), b_.host.next_deadline()), after + kLongest) - after;
    if (!room) wait = std::max(wait, kFullLink);
    wait = std::max(wait, Duration{});
    std::array<pollfd, 3> fds{a_.readable(), b_.readable(), pollfd{signals_.get(), POLLIN, 0}};
    const timespec timeout{0, wait.ns};
    ppoll(fds.data(), fds.size(), &timeout, nullptr);
    signalfd_siginfo s{};
    while (read(signals_.get(), &s, sizeof s) == static_cast<ssize_t>(sizeof s))
      (s.ssi_signo == SIGUSR1 ? next_ : ending_) = true;
  }

  void post(Instant t) {
    for (Side& s : sides_) {
      model::RcRequester& r = s.sender->requester;
      if (ending_ || s.sender->failed()) s.left = 0;
      for (; s.left > 0 && r.records().size() - r.completed() < o_.depth; --s.left)
        r.post(model::random_work(prng_, work_, *s.remote), t);
    }
  }

  /// Everything posted is complete at its sender and executed at its receiver, or its queue pair has failed.
  bool at_rest() const {
    return std::all_of(sides_.begin(), sides_.end(), [](const Side& s) {
      const model::RcRequester& r = s.sender->requester;
      return s.sender->failed() ||
             (s.left == 0 && r.idle() && s.receiver->responder.expected() >= r.next_new());
    });
  }
  int64_t progress() const {
    int64_t sum = 0;
    for (const Side& s : sides_)
      sum += static_cast<int64_t>(s.sender->requester.completed()) + s.receiver->responder.expected() +
             (s.sender->failed() ? 1 : 0);
    return sum;
  }

  bool report(uint64_t round, bool finished) {
    nlohmann::ordered_json j{{"round", round}, {"finished", finished}};
    uint64_t posted = 0, completed = 0, resent = 0, timeouts = 0, naks = 0, rnrs = 0, duplicates = 0, gaps = 0,
             implied = 0;
    nlohmann::ordered_json wrong = nlohmann::ordered_json::array(), failed = wrong;
    for (const model::QpPair& p : pairs_) {
      model::AuditOptions how;
      how.complete = finished && !p.a->failed() && !p.b->failed();
      how.completion_after_execution = !o_.early;
      std::istringstream complaints(model::audit(p, how, now()));
      for (std::string line; std::getline(complaints, line);)
        wrong.push_back("QP " + std::to_string(p.a->id.local.v) + ": " + line);
      for (const model::Qp* q : {p.a, p.b}) {
        const model::RcRequester& r = q->requester;
        posted += r.records().size();
        completed +=
            static_cast<uint64_t>(std::count_if(r.records().begin(), r.records().end(), [](const auto& x) {
              return x.status == model::WcStatus::kSuccess;
            }));
        resent += r.stats().retransmitted;
        timeouts += r.stats().timeouts;
        implied += r.stats().implied_naks;
        naks += r.stats().sequence_naks;
        rnrs += r.stats().rnr_naks;
        duplicates += q->responder.stats().duplicates;
        gaps += q->responder.stats().out_of_sequence;
        if (r.failed()) failed.push_back({{"qpn", q->id.local.v}, {"why", why(r.failure())}});
      }
    }
    const bool good = finished && wrong.empty();
    j.update({{"posted", posted},
              {"completed", completed},
              {"wrong", std::move(wrong)},
              {"failed", failed},
              {"retransmitted", resent},
              {"timeouts", timeouts},
              {"naks", naks},
              {"implied_naks", implied},
              {"rnr_naks", rnrs},
              {"duplicates", duplicates},
              {"out_of_sequence", gaps},
              {"bad_icrc", a_.host.stats().bad_icrc + b_.host.stats().bad_icrc}});
    std::cout << j.dump() << std::endl;
    return good;
  }

  static constexpr Duration kLongest = Duration::millis(200), kFullLink = Duration::millis(1),
                            kLinger = Duration::millis(200);
  const Options& o_;
  model::PacketArena arena_;
  End a_, b_;
  Prng prng_;
  model::WorkloadConfig work_;
  std::vector<model::QpPair> pairs_;
  std::vector<Side> sides_;
  FileDescriptor signals_;
  bool next_ = false, ending_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Two hosts with model NICs on two interfaces, and what came of the data between them."};
  Options o;
  app.add_option("--a", o.a, "Interface of host a")->required();
  app.add_option("--b", o.b, "Interface of host b")->required();
  app.add_option("--ip-a", o.ip_a)->capture_default_str();
  app.add_option("--ip-b", o.ip_b)->capture_default_str();
  app.add_option("--pair", o.pairs, "QPN,PSN,QPN,PSN: of a, of b; what each sends first. May be repeated")
      ->required();
  app.add_flag("--both", o.both, "b posts too");
  app.add_flag("--early", o.early, "A work request may complete before it was executed");
  app.add_option("--work", o.work, "Kinds of work requests")->capture_default_str();
  app.add_option("--messages", o.messages, "Of each sender in each round")->capture_default_str();
  app.add_option("--rounds", o.rounds)->capture_default_str();
  app.add_option("--depth", o.depth, "Work requests outstanding at most")->capture_default_str();
  app.add_option("--rate", o.rate, "Of each NIC")->capture_default_str();
  app.add_option("--max-length", o.max_length, "Of a message")->capture_default_str();
  app.add_option("--mtu", o.mtu, "Path MTU")->capture_default_str();
  app.add_option("--timeout", o.timeout, "Until a sender sends again")->capture_default_str();
  app.add_option("--retries", o.retries, "-1: without end")->capture_default_str();
  app.add_option("--patience", o.patience, "Without any progress")->capture_default_str();
  app.add_option("--lose", o.lose, "Share of what a host sends or is sent that its cable loses")
      ->capture_default_str();
  app.add_option("--seed", o.seed)->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return Run(o).run() ? 0 : 1;
}
