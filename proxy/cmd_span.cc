// matchrdma span: a long link between two ports, with delay, rate, loss and cuts.
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <iostream>
#include <memory>
#include <sstream>
#include <vector>

#include "config/units.h"
#include "dataplane/io/clock.h"
#include "dataplane/io/eal.h"
#include "dataplane/io/idle.h"
#include "dataplane/io/mbuf_pool.h"
#include "dataplane/io/port.h"
#include "proxy/commands.h"
#include "proxy/control_socket.h"
#include "proxy/json_output.h"
#include "proxy/output_files.h"
#include "proxy/span_link.h"
#include "proxy/span_report.h"
#include "proxy/span_settings.h"
#include "proxy/table.h"

namespace matchrdma {
namespace {

struct SpanArguments {
  std::string a, b, control, cores, json, mtu = "0", memory = "no-huge:256MiB", seed = "1", coalesce = "0us";
  /// Settings in the order of the command line: a later one wins.
  std::vector<std::pair<std::string, std::string>> settings;
};

constexpr uint32_t kRing = 256;
/// A link that holds fewer frames than this is of no use.
constexpr uint32_t kFewest = 256;
/// Housekeeping is never put off longer than this, so a signal that came just before a sleep is not either.
constexpr Duration kLongestSleep = Duration::millis(200);
constexpr Duration kWithClients = Duration::millis(5);
constexpr Duration kHousekeeping = Duration::millis(1);

volatile std::sig_atomic_t stop_asked = 0;
volatile std::sig_atomic_t toggles = 0;

void on_signal(int signal) {
  if (signal == SIGUSR1)
    toggles = toggles + 1;
  else
    stop_asked = 1;
}

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  for (int s : {SIGINT, SIGTERM, SIGUSR1}) sigaction(s, &action, nullptr);
}

double cpu_seconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return static_cast<double>(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
         static_cast<double>(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

/// "256MiB": hugepages; "no-huge" or "no-huge:256MiB": ordinary memory.
void parse_memory(const std::string& text, io::EalOptions& o) {
  std::string size = text;
  if (text.starts_with("no-huge")) {
    o.no_huge = true;
    size = text == "no-huge" ? "256MiB" : text.substr(8);
    if (text.size() > 7 && text[7] != ':')
      stop("--memory " + text + ": write 256MiB, no-huge or no-huge:256MiB", 2);
  }
  const uint64_t bytes = or_stop(parse_bytes("--memory", size));
  if (bytes < (32u << 20) || bytes > (uint64_t{1} << 40))
    stop("--memory " + text + ": choose 32MiB to 1024GiB", 2);
  o.memory_mib = static_cast<uint32_t>(bytes >> 20);
}

std::vector<uint32_t> parse_cores(const std::string& text) {
  std::vector<uint32_t> cores;
  std::istringstream in(text);
  for (std::string one; std::getline(in, one, ',');)
    cores.push_back(static_cast<uint32_t>(
        or_stop(parse_whole("--cores", one, 0, 1023, "not a core; write numbers like 0 or 0,1"))));
  return cores;
}

/// The parts of a running span, in the order in which they may be made; they end the other way round.
struct SpanRun {
  std::unique_ptr<io::Eal> eal;
  std::unique_ptr<io::MbufPool> pool;
  std::array<std::unique_ptr<io::Port>, 2> ports;
  std::unique_ptr<SpanLink> link;
  std::unique_ptr<io::Clock> clock;
  std::unique_ptr<io::Idle> idle;
  std::unique_ptr<ControlSocket> control;
  double cpu_at_start = 0;
  bool links_off = false;

  SpanUse use() const {
    return {static_cast<double>(clock->now().ns) / 1e9, cpu_seconds() - cpu_at_start, idle->sleeps()};
  }
  Result<void> cut(bool links_too) {
    link->cut();
    if (!links_too) return {};
    links_off = true;
    return switch_links(false);
  }
  Result<void> restore() {
    link->restore();
    if (!links_off) return {};
    links_off = false;
    return switch_links(true);
  }
  Result<void> switch_links(bool up) {
    for (auto& p : ports)
      if (auto r = p->set_link(up); !r) return r;
    return {};
  }
};

/// Says what the memory holds, in frames and against what the link carries.
void print_sizes(const SpanRun& run, const io::PortPlan& plan, const SpanSettings& s) {
  std::cout << "frames of up to " << thousands(plan.options.mtu + 14) << " bytes; the memory holds "
            << thousands(run.link->most_on_the_way()) << " on the way, both directions together\n";
  if (s.rate.bps == 0) return;
  const double bytes = static_cast<double>(s.rate.bps) / 8 * static_cast<double>(s.delay.ns) / 1e9;
  const double frames = bytes / (plan.options.mtu + 38);
  std::cout << "rate x delay is " << thousands(static_cast<uint64_t>(bytes)) << " bytes or "
            << thousands(static_cast<uint64_t>(frames)) << " of the longest frames in each direction\n";
  if (2 * frames > static_cast<double>(run.link->most_on_the_way()))
    std::cout
        << "that is more than the memory holds: what is too much will be dropped and counted; --memory gives "
           "more\n";
}

void print_port(const char* side, const io::Port& port) {
  const io::PortAbilities& can = port.abilities();
  std::cout << side << ": " << port.name() << " (" << can.driver << "), MTU " << port.mtu() << ", link "
            << (port.link().up ? "up" : "down") << (can.wakes ? "" : ", polled") << '\n';
  if (!can.exact_tags) std::cout << side << ": service VLAN tags (0x88a8) will come out as 0x8100\n";
}

SpanRun start(const SpanArguments& a, const SpanSettings& settings, uint64_t seed) {
  SpanRun run;
  io::EalOptions eal;
  parse_memory(a.memory, eal);
  eal.main_cpus = parse_cores(a.cores);
  eal.file_prefix = "matchrdma-span-" + std::to_string(getpid());
  const auto mtu = static_cast<uint32_t>(or_stop(parse_whole("--mtu", a.mtu, 0, 65000, "choose 68 to 65000")));
  std::array<io::PortPlan, 2> plans;
  for (size_t i = 0; i < 2; ++i) {
    plans[i] =
        or_stop(io::plan_port({.device = i == 0 ? a.a : a.b, .mtu = mtu, .rx_ring = kRing, .tx_ring = kRing}));
    if (!plans[i].pci.empty()) eal.pci.push_back(plans[i].pci);
  }
  const io::PortPlan& larger = plans[plans[0].packet_room < plans[1].packet_room ? 1 : 0];
  run.eal = or_stop(io::Eal::start(eal));

  // What the rings of the devices and DPDK itself need comes out of the same memory.
  const uint64_t for_packets = (uint64_t{eal.memory_mib} << 20) / 16 * 15 - (8u << 20);
  const uint32_t packets = io::packets_in(for_packets, larger.packet_room);
  const io::PoolNeeds rings{.rx_rings = 2 * kRing, .tx_rings = 2 * kRing};
  const uint32_t overhead = io::pool_size(rings, larger.packet_room).packets;
  if (packets < overhead + kFewest)
    stop("--memory " + a.memory + ": holds only " + std::to_string(packets) + " frames of this MTU, of which " +
         std::to_string(overhead) + " are needed for the rings; choose more memory or a smaller --mtu");
  run.pool = or_stop(io::MbufPool::create("span", packets, larger.packet_room));
  io::MbufPool* const pools[] = {run.pool.get()};
  for (size_t i = 0; i < 2; ++i) run.ports[i] = or_stop(io::Port::open(plans[i], pools));
  run.link =
      std::make_unique<SpanLink>(*run.ports[0], *run.ports[1], *run.pool, settings, seed, packets - overhead);
  run.clock = std::make_unique<io::Clock>();
  run.idle = or_stop(io::Idle::create(*run.clock));
  run.idle->coalesce(or_stop(parse_duration("--coalesce", a.coalesce)));
  for (const auto& p : run.ports) {
    run.idle->watch(*p, 0);
    if (p->link_fd() >= 0) run.idle->watch(p->link_fd());
  }
  if (!a.control.empty()) {
    run.control = or_stop(ControlSocket::open(a.control));
    run.idle->watch(run.control->fd());
  }
  run.cpu_at_start = cpu_seconds();
  print_port("a", *run.ports[0]);
  print_port("b", *run.ports[1]);
  print_sizes(run, larger, settings);
  return run;
}

std::string set_command(SpanRun& run, std::istringstream& words) {
  SpanSettings changed = run.link->settings();
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) return "error: " + word + ": write NAME=VALUE, like delay=5ms";
    if (auto r = change_setting(changed, word.substr(0, equals), word.substr(equals + 1)); !r)
      return "error: " + r.error();
  }
  run.link->set(changed);
  return "ok";
}

std::string told(const Result<void>& r) { return r ? "ok" : "error: " + r.error(); }

std::string answer(SpanRun& run, const std::string& line) {
  std::istringstream words(line);
  std::string command, more;
  words >> command;
  if (command == "set") return set_command(run, words);
  if (command == "stats") return span_json(*run.link, *run.ports[0], *run.ports[1], run.use()).dump();
  if (command == "cut") {
    words >> more;
    if (!more.empty() && more != "link") return "error: cut " + more + ": write cut, or cut link";
    return told(run.cut(more == "link"));
  }
  if (command == "restore") return told(run.restore());
  if (command == "quit") {
    stop_asked = 1;
    return "ok";
  }
  return "error: " + command +
         ": no such command; there are set NAME=VALUE..., cut, cut link, restore, stats, quit";
}

void housekeeping(SpanRun& run, std::sig_atomic_t& seen_toggles) {
  for (auto& p : run.ports) p->poll_link();
  if (seen_toggles != toggles) {
    seen_toggles = toggles;
    const auto r = run.link->dark() ? run.restore() : run.cut(false);
    if (!r) std::cerr << "matchrdma: " << r.error() << '\n';
  }
  if (run.control) run.control->serve([&run](const std::string& line) { return answer(run, line); });
}

void loop(SpanRun& run) {
  const bool terminal = isatty(STDERR_FILENO) != 0;
  std::sig_atomic_t seen_toggles = toggles;
  Instant keep_house{}, next_status{};
  while (stop_asked == 0) {
    bool work = run.link->receive([&run] { return run.clock->now(); });
    const Instant now = run.clock->now();
    if (run.link->send(now)) work = true;
    if (now >= keep_house || !work) {
      housekeeping(run, seen_toggles);
      keep_house = now + kHousekeeping;
    }
    if (terminal && now >= next_status) {
      std::cerr << "\r\033[K" << span_status(*run.link) << std::flush;
      next_status = now + Duration::seconds(1);
    }
    if (work) {
      run.idle->worked();
      continue;
    }
    const bool clients = run.control && run.control->has_clients();
    run.idle->wait(earlier(run.link->next_due(), now + (clients ? kWithClients : kLongestSleep)));
  }
  if (terminal) std::cerr << "\r\033[K" << std::flush;
}

void run_span(const SpanArguments& a) {
  SpanSettings settings;
  for (const auto& [name, value] : a.settings)
    if (auto r = change_setting(settings, name, value); !r) stop("--" + r.error(), 2);
  const uint64_t seed = or_stop(parse_seed("--seed", a.seed));
  or_stop(check_outputs("-", {{"--json", a.json}}));
  catch_signals();
  SpanRun run = start(a, settings, seed);
  std::cout << "the span is up: " << duration_text(settings.delay.ns) << " one way" << std::endl;
  loop(run);
  if (a.json != "-") print_span(std::cout, *run.link, run.use());
  if (!a.json.empty())
    or_stop(write_json(span_json(*run.link, *run.ports[0], *run.ports[1], run.use()), a.json));
}

}  // namespace

void add_span_command(CLI::App& app) {
  CLI::App* c = app.add_subcommand("span", "Be a long link between two ports");
  auto a = std::make_shared<SpanArguments>();
  c->add_option("--a", a->a, "Port: a PCI address, or a vdev like net_af_packet0,iface=eth1")->required();
  c->add_option("--b", a->b, "The other port")->required();
  const auto setting = [&](const std::string& name, const std::string& help) {
    c->add_option_function<std::string>(
        "--" + name, [a, name](const std::string& value) { a->settings.emplace_back(name, value); }, help);
  };
  setting("distance", "Length in km, at 5 us each way a km, like 1000km");
  setting("delay", "The same as a time, like 5ms (0)");
  setting("rate", "Of each direction, like 100Gbps (unlimited)");
  setting("queue", "Bytes that may wait for the rate (16MiB)");
  setting("loss", "Probability that a frame is lost, either way, like 0.1% (0)");
  setting("loss-ab", "From a to b only");
  setting("loss-ba", "From b to a only");
  setting(
      "loss-filter",
      "What the loss may hit: all (default), roce: RC packets, roce-data: RC requests, port:N: RoCE from this "
      "UDP source port");
  setting("reorder", "Probability that a frame comes later than those behind it (0)");
  setting("reorder-extra", "At most so much later (100us)");
  setting("duplicate", "Probability that a frame comes twice (0)");
  c->add_option("--seed", a->seed, "Seed of all chance (1)");
  c->add_option("--mtu", a->mtu, "Set the MTU of both ports (as it is; 9216 where nothing says)");
  c->add_option("--memory", a->memory, "256MiB of hugepages, or no-huge:256MiB of ordinary memory (default)");
  c->add_option("--cores", a->cores, "Cores it may run on, like 0 or 0,1 (all)");
  c->add_option("--coalesce", a->coalesce,
                "When nothing is due it rests at least so long: fewer wake-ups, frames so much later (0us)");
  c->add_option("--control", a->control,
                "Unix stream socket for lines: set NAME=VALUE..., cut, cut link, restore, stats, quit");
  c->add_option("--json", a->json, "Write the final figures to this file; - is stdout");
  c->footer("SIGUSR1 cuts the link and restores it; SIGINT and SIGTERM end with a summary.");
  c->callback([a] { run_span(*a); });
}

}  // namespace matchrdma
