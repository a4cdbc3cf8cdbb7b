// What cores cost each other, on two of them, and what that makes of N: packets handed from the worker that
// received them to the one that owns them, jobs of the control thread, reports, and two workers beside each
// other.
#include "bench/cores/cores.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>
#include <string>

#include "proxy/json_output.h"
#include "proxy/table.h"

namespace matchrdma::cores_bench {

PacketRef write_packet(uint8_t a, uint8_t b, uint32_t qpn, uint32_t payload, PacketPool& pool) {
  const std::array<uint8_t, 4> from{10, 0, 0, a}, to{10, 0, 1, b};
  const std::vector<uint8_t> bytes(payload);
  L2L3 l;
  l.src = IpAddress::v4(from.data());
  l.dst = IpAddress::v4(to.data());
  RoceSpec r;
  r.opcode = op::kRcWriteMiddle;
  r.dest_qp = Qpn{qpn};
  r.payload = bytes;
  return build_roce(l, r, pool);
}

namespace {

constexpr double kReportsPerSecond = 2;

struct Measured {
  Handover handover;
  Mail mail;
  Forwarding forwarding;
  double one() const { return (forwarding.alone[0] + forwarding.alone[1]) / 2; }
  /// What is left of a worker's rate when the other one works too.
  double share() const {
    return (forwarding.together[0] + forwarding.together[1]) / (forwarding.alone[0] + forwarding.alone[1]);
  }
  /// Packets/s of n workers; `spread`: the ports bring each packet to its owner. `forwarding_ns`: what a worker
  /// spends on a packet.
  double rate(double n, double forwarding_ns, bool spread) const {
    const double others = (n - 1) / n;
    const double cross = spread || n < 2 ? 0 : handover.kept / n + others * (handover.given + handover.taken);
    const double reports = 1 - kReportsPerSecond * forwarding.report / 1e9;
    return n * reports * 1e9 / (forwarding_ns / (n < 2 ? 1 : share()) + cross);
  }
  /// The same where one worker receives all that the ports have and owns its part of it like the others: the
  /// first one that is full ends it.
  double funnel(double n, double forwarding_ns) const {
    if (n < 2) return rate(1, forwarding_ns, true);
    const double packet = forwarding_ns / share();
    const double front = handover.kept / n + (n - 1) / n * handover.given;
    return std::min(1e9 / (front + packet / n), n * 1e9 / (packet + handover.taken));
  }
};

Result<Measured> measure(io::Eal& eal, const io::Clock& clock, int rounds, Duration round) {
  Measured m;
  auto h = measure_handover(eal, clock, 4 * rounds + 1, 500'000);
  if (!h) return Error{h.error()};
  m.handover = *h;
  m.mail = measure_mailbox(eal, clock, 200'000);
  auto f = measure_forwarding(eal, clock, rounds, round);
  if (!f) return Error{f.error()};
  m.forwarding = *f;
  return m;
}

void print_costs(const Measured& m) {
  Table t({{"cost", Table::Align::kLeft}, {"ns", Table::Align::kRight}});
  t.add({"a packet looked at, and its owner is here", decimal(m.handover.kept, 1)});
  t.add({"a packet given to another worker", decimal(m.handover.given, 1)});
  t.add({"a packet taken from another worker, read and freed", decimal(m.handover.taken, 1)});
  t.add({"a look into an empty mailbox", decimal(m.mail.empty, 2)});
  t.add({"a job posted to another core", decimal(m.mail.post, 0)});
  t.add({"from the post until it runs there", decimal(m.mail.arrives, 0)});
  t.add({"a worker's report", decimal(m.forwarding.report, 0)});
  t.add({"a flow of its list", decimal(m.forwarding.flow, 0)});
  t.print(std::cout);
  std::cout << '\n';
  Table f({{"transparent forwarding, ports in memory"},
           {"worker 0", Table::Align::kRight},
           {"worker 1", Table::Align::kRight},
           {"both", Table::Align::kRight}});
  const auto line = [&f](const char* name, const std::array<double, 2>& r) {
    f.add({name, thousands(static_cast<uint64_t>(r[0])), thousands(static_cast<uint64_t>(r[1])),
           thousands(static_cast<uint64_t>(r[0] + r[1]))});
  };
  line("packets/s, alone", m.forwarding.alone);
  line("packets/s, together", m.forwarding.together);
  f.print(std::cout);
  std::cout << "\nof its rate alone, a worker keeps " << decimal(m.share() * 100, 1)
            << " % beside another one; two are " << decimal(2 * m.share(), 2) << " times one\n\n";
}

void print_model(const Measured& m, double forwarding_ns, nlohmann::ordered_json& json) {
  std::cout
      << "packet = " << decimal(forwarding_ns, 1) << " ns, share = " << decimal(m.share(), 3)
      << "; measured for N = 2: what more cores take of cache and memory is not in it\n"
         "  ports spread by owner (RSS):  N / (packet / share)\n"
         "  each worker hands over:       N / (packet / share + kept / N + (N-1) / N (given + taken))\n"
         "  one worker receives all:      the least of 1 / (packet / share / N + kept / N + (N-1) / N given)\n"
         "                                and N / (packet / share + taken)\n"
         "and of each worker's time "
      << kReportsPerSecond << " reports a second\n\n";
  using Align = Table::Align;
  Table t({{"workers", Align::kRight},
           {"Mpackets/s, spread", Align::kRight},
           {"each hands over", Align::kRight},
           {"one receives", Align::kRight}});
  for (const int n : {1, 2, 4, 8, 16}) {
    const double spread = m.rate(n, forwarding_ns, true), handing = m.rate(n, forwarding_ns, false),
                 funnel = m.funnel(n, forwarding_ns);
    t.add({std::to_string(n), decimal(spread / 1e6, 2), decimal(handing / 1e6, 2), decimal(funnel / 1e6, 2)});
    json.push_back(
        {{"workers", n}, {"spread_pps", spread}, {"handing_over_pps", handing}, {"one_receives_pps", funnel}});
  }
  t.print(std::cout);
}

nlohmann::ordered_json json_of(const Measured& m) {
  return {{"kept_ns", m.handover.kept},
          {"given_ns", m.handover.given},
          {"taken_ns", m.handover.taken},
          {"mailbox_empty_ns", m.mail.empty},
          {"mailbox_post_ns", m.mail.post},
          {"mailbox_arrives_ns", m.mail.arrives},
          {"report_ns", m.forwarding.report},
          {"flow_ns", m.forwarding.flow},
          {"alone_pps", m.forwarding.alone},
          {"together_pps", m.forwarding.together},
          {"share", m.share()}};
}

struct Options {
  std::vector<uint32_t> cpus{0, 1};
  int rounds = 5, round_ms = 500;
  double packet_ns = 0;
  bool no_huge = false;
  std::string json;
};

Result<void> run(const Options& o) {
  io::EalOptions e;
  e.no_huge = o.no_huge;
  e.worker_cpus = o.cpus;
  e.file_prefix = "matchrdma-cores-bench";
  auto eal = io::Eal::start(e);
  if (!eal) return Error{eal.error()};
  const io::Clock clock;
  auto m = measure(**eal, clock, o.rounds, Duration::millis(o.round_ms));
  if (!m) return Error{m.error()};
  print_costs(*m);
  nlohmann::ordered_json json = json_of(*m), model = nlohmann::ordered_json::array();
  print_model(*m, o.packet_ns > 0 ? o.packet_ns : 1e9 / m->one(), model);
  json["model"] = std::move(model);
  return o.json.empty() ? Result<void>{} : write_json(json, o.json);
}

}  // namespace
}  // namespace matchrdma::cores_bench

int main(int argc, char** argv) {
  matchrdma::cores_bench::Options o;
  CLI::App app{"What cores cost each other, and a model of N workers"};
  app.add_option("--cpus", o.cpus, "two CPUs, one for each worker")
      ->expected(2)
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--rounds", o.rounds, "of each kind")->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--round-ms", o.round_ms, "length of one")
      ->check(CLI::Range(50, 60000))
      ->capture_default_str();
  app.add_option("--packet-ns", o.packet_ns,
                 "what a worker spends on a packet, for the model; forwarding if missing")
      ->check(CLI::Range(1.0, 1e6));
  app.add_flag("--no-huge", o.no_huge, "ordinary memory in place of hugepages");
  app.add_option("--json", o.json, "FILE or -");
  CLI11_PARSE(app, argc, argv);
  if (const auto r = matchrdma::cores_bench::run(o); !r) {
    std::cerr << "cores_bench: " << r.error() << '\n';
    return 1;
  }
  return 0;
}
