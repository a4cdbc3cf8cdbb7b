// matchrdma trace make FILE: a capture of model NICs, and the truth about it.
#include <array>
#include <iostream>
#include <memory>
#include <string_view>
#include <utility>

#include "config/units.h"
#include "pcap/make/capture_sink.h"
#include "proxy/commands.h"
#include "proxy/json_output.h"
#include "proxy/output_files.h"
#include "proxy/progress.h"
#include "proxy/table.h"
#include "proxy/trace_truth_json.h"

namespace matchrdma {
namespace {

/// What was typed; checked when the command runs, so that every complaint names option, value and remedy.
struct MakeArguments {
  std::string file, json;
  std::string pattern = "training", qps = "8", hosts = "1", message, iterations, compute = "150ms",
              duration = "2s";
  const CLI::Option* duration_option = nullptr;  ///< was it typed?
  std::string mtu = "1024", rate = "100Gbps", distance = "0", lan_latency = "2us";
  std::string loss = "0", loss_at = "after", ecn = "0", setup = "out-of-band", psn = "zero", qpn = "sequential",
              source_port = "hash", join_after = "0", hide = "0", hide_direction = "both", vlan, tap = "a",
              seed = "1";
  bool reuse = false, ipv6 = false;
};

constexpr uint32_t kAny = 0xffffffff;

template <class E, size_t N>
E choose(const char* option, const std::string& text, const std::array<std::pair<const char*, E>, N>& choices) {
  std::string names;
  for (size_t i = 0; i < N; ++i) {
    if (text == choices[i].first) return choices[i].second;
    names += std::string(i == 0 ? "" : i + 1 == N ? " or " : ", ") + choices[i].first;
  }
  stop(std::string(option) + " " + text + ": no such choice; choose " + names, kUsage);
}

uint32_t whole(const char* option, const std::string& text) {
  return static_cast<uint32_t>(
      or_stop(parse_whole(option, text, 0, kAny, "not a whole number from 0 to 2^32 - 1")));
}

std::vector<uint16_t> parse_vlans(const std::string& text) {
  std::vector<uint16_t> ids;
  for (size_t at = 0; !text.empty() && at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const auto id = parse_whole("--vlan", text.substr(at, comma - at), 1, 4094, "");
    if (!id || ids.size() == 2)
      stop("--vlan " + text + ": write one VLAN id from 1 to 4094, or outer and inner like 100,200", kUsage);
    ids.push_back(static_cast<uint16_t>(*id));
    at = comma + 1;
  }
  return ids;
}

void parse_traffic(const MakeArguments& a, TraceRecipe& r) {
  using P = TracePattern;
  r.pattern = choose("--pattern", a.pattern,
                     std::array<std::pair<const char*, P>, 6>{{{"training", P::kTraining},
                                                               {"write", P::kWrite},
                                                               {"send", P::kSend},
                                                               {"read", P::kRead},
                                                               {"atomic", P::kAtomic},
                                                               {"mixed", P::kMixed}}});
  r.qps = whole("--qps", a.qps);
  r.hosts = whole("--hosts", a.hosts);
  if (!a.message.empty()) {
    const uint64_t bytes = or_stop(parse_bytes("--message", a.message));
    if (bytes == 0 || bytes > kAny)
      stop("--message " + a.message + ": choose at least 1 byte, at most 16M", kUsage);
    r.message = static_cast<uint32_t>(bytes);
  }
  if (!a.iterations.empty())
    r.iterations = static_cast<uint32_t>(
        or_stop(parse_whole("--iterations", a.iterations, 1, kAny, "choose a whole number of at least 1")));
  r.compute = or_stop(parse_duration("--compute", a.compute));
  r.duration = or_stop(parse_duration("--duration", a.duration));
  if (r.iterations > 0 && a.duration_option->count() == 0)
    r.duration = {};  // the iterations alone say when it ends
}

void parse_network(const MakeArguments& a, TraceRecipe& r) {
  r.path_mtu = whole("--mtu", a.mtu);
  r.rate = or_stop(parse_rate("--rate", a.rate));
  r.distance_km = or_stop(parse_distance("--distance", a.distance));
  r.lan_latency = or_stop(parse_duration("--lan-latency", a.lan_latency));
  r.loss = or_stop(parse_probability("--loss", a.loss));
  using L = TraceLossAt;
  r.loss_at =
      choose("--loss-at", a.loss_at,
             std::array<std::pair<const char*, L>, 2>{{{"before", L::kBeforeTap}, {"after", L::kAfterTap}}});
  r.ecn = or_stop(parse_probability("--ecn", a.ecn));
  r.ipv6 = a.ipv6;
  r.vlans = parse_vlans(a.vlan);
}

void parse_connections(const MakeArguments& a, TraceRecipe& r) {
  using S = TraceSetup;
  r.setup = choose("--setup", a.setup,
                   std::array<std::pair<const char*, S>, 2>{{{"cm", S::kCm}, {"out-of-band", S::kOutOfBand}}});
  using N = TracePsn;
  r.psn = choose("--psn", a.psn,
                 std::array<std::pair<const char*, N>, 2>{{{"zero", N::kZero}, {"random", N::kRandom}}});
  using Q = TraceQpn;
  r.qpn = choose(
      "--qpn", a.qpn,
      std::array<std::pair<const char*, Q>, 2>{{{"sequential", Q::kSequential}, {"random", Q::kRandom}}});
  using P = TracePort;
  r.source_port =
      choose("--source-port", a.source_port,
             std::array<std::pair<const char*, P>, 4>{
                 {{"hash", P::kHash}, {"fixed", P::kFixed}, {"own-qpn", P::kOwnQpn}, {"per-qp", P::kPerQp}}});
  r.reuse = a.reuse;
}

void parse_capture(const MakeArguments& a, TraceRecipe& r) {
  r.join_after = or_stop(parse_duration("--join-after", a.join_after));
  r.hide = or_stop(parse_probability("--hide", a.hide));
  using H = TraceHidden;
  r.hide_direction = choose(
      "--hide-direction", a.hide_direction,
      std::array<std::pair<const char*, H>, 3>{{{"both", H::kBoth}, {"a", H::kFromA}, {"b", H::kFromB}}});
  using T = TraceTap;
  r.tap = choose("--tap", a.tap, std::array<std::pair<const char*, T>, 2>{{{"a", T::kA}, {"b", T::kB}}});
  r.seed = or_stop(parse_seed("--seed", a.seed));
}

TraceRecipe parse(const MakeArguments& a) {
  TraceRecipe r;
  parse_traffic(a, r);
  parse_network(a, r);
  parse_connections(a, r);
  parse_capture(a, r);
  if (const auto ok = check_recipe(r); !ok) stop(ok.error(), kUsage);
  return r;
}

void print_made(const TraceTruth& t, const std::string& name) {
  uint64_t shown = 0;
  for (const TracePair& p : t.pairs) shown += p.a.packets + p.b.packets > 0 ? 1 : 0;
  std::cout << name << '\n';
  Table table({{"", Table::Align::kLeft}, {"", Table::Align::kRight}});
  table.add({"packets", thousands(t.packets)});
  table.add({"bytes on the wire", thousands(t.bytes)});
  table.add({"time", duration_text(t.packets == 0 ? 0 : (t.last - t.first).ns)});
  table.add({"connected queue pairs", thousands(t.pairs.size())});
  table.add({"of these in the capture", thousands(shown)});
  table.add({"messages", thousands(t.messages)});
  table.add({"packets lost", thousands(t.lost)});
  table.add({"requests sent again", thousands(t.retransmitted)});
  table.add({"CE marks", thousands(t.marked)});
  table.add({"CNPs", thousands(t.cnps)});
  table.print(std::cout);
  if (!std::cout.flush()) stop("(stdout): write failed; the table is incomplete");
}

// A capture without packets is a capture, but hardly what was wanted.
std::string why_empty(const TraceRecipe& r, const TraceTruth& t) {
  if (t.hidden == 0)
    return "holds no packet: no burst begins within --duration " + duration_text((r.duration / lives(r)).ns) +
           (r.reuse ? " (half of it: --reuse)" : "") + "; the first would after --compute " +
           duration_text(r.compute.ns);
  return "holds no packet: all " + thousands(t.hidden) +
         " that were sent are hidden (--hide) or were sent before the capture begins (--join-after)";
}

void run_trace_make(const MakeArguments& a) {
  TraceRecipe recipe = parse(a);
  const std::vector<OutputFile> outputs{{"trace make", a.file}, {"--json", a.json}};
  or_stop(check_outputs("-", outputs));
  if (auto r = check_writable(outputs); !r) stop(r.error());
  auto writer = CaptureWriter::open(a.file);
  if (!writer) stop(writer.error());
  CaptureSink sink(*writer);
  auto bar = std::make_unique<Progress>("making " + a.file + ", virtual microseconds",
                                        static_cast<uint64_t>(recipe.duration.ns / 1000));
  recipe.progress = [&bar](Duration d) { bar->update(static_cast<uint64_t>(d.ns / 1000)); };
  const auto truth = make_trace(recipe, sink);
  bar.reset();
  if (!truth) stop(truth.error());
  if (auto r = writer->close(); !r) stop(r.error());
  if (a.file != "-" && a.json != "-") print_made(*truth, writer->name());
  if (truth->packets == 0)
    std::cerr << "matchrdma: warning: " << a.file << ": " << why_empty(recipe, *truth) << '\n';
  if (!a.json.empty())
    if (auto r = write_json(trace_truth_json(*truth), a.json); !r) stop(r.error());
}

void add_traffic_options(CLI::App& c, MakeArguments& a) {
  c.add_option("--pattern", a.pattern, "training (default), write, send, read, atomic or mixed");
  c.add_option("--qps", a.qps, "Queue pairs of one pair of hosts (8)");
  c.add_option("--hosts", a.hosts, "Pairs of hosts (1)");
  c.add_option("--message", a.message,
               "Bytes of a message, like 64K (training 128K, mixed at most 16K, else 64K)");
  c.add_option(
      "--iterations", a.iterations,
      "End after so many bursts, with --reuse in each of the two lives (as many as fit into the duration)");
  c.add_option("--compute", a.compute, "Time between two bursts (150ms)");
  a.duration_option =
      c.add_option("--duration", a.duration, "No burst begins later (2s; with --iterations: no bound)");
  c.add_option("--seed", a.seed, "Seed of all chance (1): same seed, same trace");
}

void add_network_options(CLI::App& c, MakeArguments& a) {
  c.add_option("--mtu", a.mtu, "Path MTU: 256, 512, 1024 (default), 2048 or 4096");
  c.add_option("--rate", a.rate, "Rate of every NIC (100Gbps)");
  c.add_option("--distance", a.distance, "Kilometres between the sites (0: one LAN)");
  c.add_option("--lan-latency", a.lan_latency, "From a host to the edge of its site (2us)");
  c.add_option("--loss", a.loss, "Probability that a packet is lost, either way (0)");
  c.add_option("--loss-at", a.loss_at, "after (default): the capture shows what is lost behind it; before");
  c.add_option("--ecn", a.ecn, "Probability that a data packet is marked CE; receivers send CNPs (0)");
  c.add_flag("--ipv6", a.ipv6, "IPv6 instead of IPv4");
  c.add_option("--vlan", a.vlan, "VLAN id, or outer and inner like 100,200");
}

void add_connection_options(CLI::App& c, MakeArguments& a) {
  c.add_option("--setup", a.setup, "out-of-band (default): queue pairs are just there; cm: by MADs on QP 1");
  c.add_option("--psn", a.psn, "Starting PSNs: zero (default) or random");
  c.add_option("--qpn", a.qpn, "QPNs: sequential (default) or random");
  c.add_option("--source-port", a.source_port, "UDP: hash of both QPNs (default), fixed, own-qpn or per-qp");
  c.add_flag("--reuse", a.reuse, "Half way all connections end and the QPNs live again with other partners");
}

void add_capture_options(CLI::App& c, MakeArguments& a) {
  c.add_option("--tap", a.tap, "Capture at the edge of site a (default) or b");
  c.add_option("--join-after", a.join_after, "The capture begins so late (0)");
  c.add_option("--hide", a.hide, "Fraction of the queue pairs that the capture does not show (0)");
  c.add_option("--hide-direction", a.hide_direction,
               "What is hidden of them: both (default), what a or b sends");
  c.add_option("--json", a.json, "Also write the truth about every queue pair to this file; - is stdout");
}

}  // namespace

void add_trace_make_command(CLI::App& trace) {
  CLI::App* c = trace.add_subcommand("make", "Write a capture of RoCEv2 traffic between model NICs");
  auto a = std::make_shared<MakeArguments>();
  c->add_option("file", a->file, "Nanosecond pcap to write; - is stdout")->required();
  add_traffic_options(*c, *a);
  add_network_options(*c, *a);
  add_connection_options(*c, *a);
  add_capture_options(*c, *a);
  c->callback([a] { run_trace_make(*a); });
}

}  // namespace matchrdma
