// What scraping costs the packets: a worker forwards as fast as it can while nobody looks, while the control
// thread takes its reports, and while /metrics is read over HTTP without a pause beside that. Rounds take
// turns, so that whatever else the machine does meets all three.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "bench/statistics.h"
#include "controlplane/service/http_server.h"
#include "dataplane/wire/frame_builder.h"
#include "model/packet_arena.h"
#include "proxy/daemon/report.h"
#include "proxy/json_output.h"
#include "proxy/table.h"

namespace matchrdma::daemon {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// A LAN port on which the same packets arrive for ever; what is sent comes back to be received again.
struct EndlessIo {
  Instant now() const {
    return Instant{std::chrono::duration_cast<std::chrono::nanoseconds>(SteadyClock::now() - start).count()};
  }
  uint32_t rx(size_t, Side side, std::span<PacketRef> out) {
    if (side == Side::kWan) return 0;
    const size_t n = std::min(out.size(), packets.size());
    for (size_t i = 0; i < n; ++i) {
      out[i] = std::move(packets.back());
      packets.pop_back();
    }
    return static_cast<uint32_t>(n);
  }
  uint32_t handed(std::span<PacketRef>) { return 0; }
  uint64_t dispatch_drops() const { return 0; }
  uint64_t tx(size_t, Side, bool, std::span<PacketRef> sent) {
    for (PacketRef& p : sent) packets.push_back(std::move(p));
    const Instant t = now();
    longest_gap = std::max(longest_gap, (t - last).ns);
    last = t;
    return sent.size();
  }
  void rest(Instant) {}
  void worked() {}

  SteadyClock::time_point start = SteadyClock::now();
  std::vector<PacketRef> packets;
  Instant last;
  int64_t longest_gap = 0;
};

/// One GET /metrics; bytes of the answer.
size_t scrape(uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_port = htons(port);
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  size_t got = 0;
  const std::string ask = "GET /metrics HTTP/1.0\r\n\r\n";
  if (::connect(fd, reinterpret_cast<sockaddr*>(&a), sizeof a) == 0 &&  // NOLINT: the socket API
      ::write(fd, ask.data(), ask.size()) == static_cast<ssize_t>(ask.size())) {
    std::array<char, 65536> piece{};
    for (ssize_t n = 0; (n = ::read(fd, piece.data(), piece.size())) > 0;) got += static_cast<size_t>(n);
  }
  ::close(fd);
  return got;
}

enum Watching : size_t { kNobody, kReports, kScrapes, kKinds };
constexpr std::array<const char*, kKinds> kNames{"nobody looks", "reports, twice a second",
                                                 "and /metrics, all the time"};

struct Measured {
  std::vector<double> rate;    // packets/s, one of each round
  std::vector<double> gap_us;  // longest time between two bursts
  uint64_t scrapes = 0, bytes = 0;
};

class Bench {
 public:
  explicit Bench(Duration round) : round_(round), worker_(0, io_, 32) {
    SpanEndConfig c;
    c.shard.limits.max_flows = 1024;
    worker_.add(std::make_unique<SpanEnd>(c, arena_, SpanEndHooks{}));
    L2L3 l;
    l.src = IpAddress::v4(std::array<uint8_t, 4>{10, 0, 0, 1}.data());
    l.dst = IpAddress::v4(std::array<uint8_t, 4>{10, 0, 1, 1}.data());
    const std::vector<uint8_t> payload(1024);
    for (uint32_t i = 0; i < 256; ++i) {
      RoceSpec r;
      r.opcode = op::kRcWriteMiddle;
      r.dest_qp = Qpn{i + 2};
      r.payload = payload;
      io_.packets.push_back(build_roce(l, r, arena_));
    }
    auto server = service::HttpServer::start({"127.0.0.1", 0}, service::service_pages(board_));
    if (!server) {
      std::cerr << "scrape_bench: " << server.error() << '\n';
      std::exit(1);
    }
    http_ = std::move(*server);
    publish(report(worker_, spans_, io_.now()));
  }

  std::array<Measured, kKinds> run(int rounds) {
    std::atomic<bool> stop = false;
    std::thread thread([&] { worker_.run(stop); });
    for (int i = 0; i < rounds; ++i) {
      for (size_t kind = 0; kind < kKinds; ++kind) one(static_cast<Watching>(kind));
    }
    stop = true;
    thread.join();
    return measured_;
  }

 private:
  void one(Watching watching) {
    Measured& m = measured_[watching];
    const uint64_t before = ask([this] { return start_round(); });
    const auto began = SteadyClock::now();
    const auto end = began + std::chrono::nanoseconds(round_.ns);
    auto report_at = began;
    while (SteadyClock::now() < end) {
      if (watching != kNobody && report_at <= SteadyClock::now()) {
        worker_.mailbox().post(
            [this] { control_.post([this, r = report(worker_, spans_, io_.now())] { publish(r); }); });
        report_at += std::chrono::milliseconds(500);
      }
      control_.drain();
      if (watching == kScrapes) {
        m.bytes += scrape(http_->port());
        ++m.scrapes;
      } else {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    }
    const double seconds = std::chrono::duration<double>(SteadyClock::now() - began).count();
    const uint64_t after = ask([this] { return worker_.counters().rx_packets; });
    m.rate.push_back(static_cast<double>(after - before) / seconds);
    m.gap_us.push_back(static_cast<double>(ask([this] { return static_cast<uint64_t>(io_.longest_gap); })) /
                       1000);
  }
  uint64_t start_round() {
    io_.longest_gap = 0;
    return worker_.counters().rx_packets;
  }
  /// A number that only the worker may read.
  template <class F>
  uint64_t ask(F f) {
    std::atomic<uint64_t> answer = 0;
    std::atomic<bool> there = false;
    worker_.mailbox().post([&] {
      answer = f();
      there = true;
    });
    while (!there) std::this_thread::yield();
    return answer;
  }
  void publish(const WorkerReport& r) {
    auto v = std::make_shared<service::DaemonView>();
    v->workers.push_back(r.view);
    v->custody.push_back(r.custody);
    v->flows = std::make_shared<service::FlowList>();
    board_.publish(std::move(v));
  }

  Duration round_;
  model::PacketArena arena_;
  EndlessIo io_;
  Worker<EndlessIo> worker_;
  std::vector<std::string> spans_{"span"};
  Mailbox control_;  ///< from the worker, as the daemon's
  service::ViewBoard board_;
  std::unique_ptr<service::HttpServer> http_;
  std::array<Measured, kKinds> measured_;
};

std::string ratio(double a, double b) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3f", a / b);
  return text.data();
}

int run(int rounds, int round_ms, const std::string& json) {
  const auto measured = Bench(Duration::millis(round_ms)).run(rounds);
  const double quiet = median(measured[kNobody].rate), quiet_gap = median(measured[kNobody].gap_us);
  Table table({{"the worker forwards while"},
               {"packets/s", Table::Align::kRight},
               {"/ nobody looks", Table::Align::kRight},
               {"longest pause", Table::Align::kRight},
               {"/ nobody looks", Table::Align::kRight},
               {"scrapes", Table::Align::kRight}});
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (size_t k = 0; k < kKinds; ++k) {
    const Measured& m = measured[k];
    const double rate = median(m.rate), gap = median(m.gap_us);
    table.add({kNames[k], thousands(static_cast<uint64_t>(rate)), ratio(rate, quiet),
               duration_text(static_cast<int64_t>(gap * 1000)), ratio(gap, quiet_gap), thousands(m.scrapes)});
    out.push_back({{"watching", kNames[k]},
                   {"packets_per_second", rate},
                   {"rate_ratio", rate / quiet},
                   {"longest_pause_us", gap},
                   {"pause_ratio", gap / quiet_gap},
                   {"scrapes", m.scrapes},
                   {"scraped_bytes", m.bytes}});
  }
  std::cout << "medians of " << rounds << " rounds of " << round_ms << " ms each, taken in turns\n\n";
  table.print(std::cout);
  if (json.empty()) return 0;
  if (const auto r = write_json(out, json); !r) {
    std::cerr << "scrape_bench: " << r.error() << '\n';
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace matchrdma::daemon

int main(int argc, char** argv) {
  CLI::App app{"What scraping costs the packets"};
  int rounds = 7, round_ms = 2000;
  std::string json;
  app.add_option("--rounds", rounds, "of each kind")->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--round-ms", round_ms, "length of one")
      ->check(CLI::Range(100, 600000))
      ->capture_default_str();
  app.add_option("--json", json, "FILE or -");
  CLI11_PARSE(app, argc, argv);
  return matchrdma::daemon::run(rounds, round_ms, json);
}
