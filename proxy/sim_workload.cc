#include "proxy/sim_workload.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "config/units.h"
#include "pcap/trace_messages.h"
#include "proxy/commands.h"
#include "proxy/progress.h"
#include "proxy/table.h"
#include "sim/workload/aicb_examples.h"
#include "sim/workload/aicb_workload.h"
#include "sim/workload/closed_loop.h"
#include "sim/workload/mixed_workload.h"
#include "sim/workload/recorded_workload.h"

namespace matchrdma {
namespace {

SimWorkload loop(const SimWorkloadArguments& a) {
  sim::ClosedLoopSettings s;
  s.message_bytes = static_cast<int64_t>(or_stop(parse_bytes_between("--message", a.message, 1, 1 << 30)));
  s.outstanding = static_cast<uint32_t>(
      or_stop(parse_whole("--outstanding", a.outstanding, 1, 65536, "choose a whole number from 1 to 65536")));
  return {"each host of site A keeps " + std::to_string(s.outstanding) + " messages of " +
              bytes_text(static_cast<uint64_t>(s.message_bytes)) + " outstanding to its partner at site B",
          false, [s](sim::World& w) {
            return std::make_unique<sim::ClosedLoop>(w.network(), s, w.settings().topology.partners());
          }};
}

SimWorkload mixed(const SimWorkloadArguments& a, uint64_t seed) {
  sim::MixedSettings s;
  s.load = or_stop(parse_probability("--load", a.load));
  if (s.load < 0.01) stop("--load " + a.load + ": choose 1% to 100%", kUsage);
  s.seed = seed;
  return {"mixed traffic of " + a.load + " load for 30 ms, half of it between the sites", true,
          [s](sim::World& w) {
            sim::MixedSettings own = s;
            own.hosts_per_site = w.settings().topology.hosts_per_site();
            return std::make_unique<sim::MixedWorkload>(w.network(), own);
          }};
}

sim::Pattern parse_pattern(const std::string& text) {
  if (text == "ring") return sim::Pattern::kRing;
  if (text == "pairwise") return sim::Pattern::kPairwise;
  if (text == "mirror") return sim::Pattern::kMirror;
  stop("--pattern " + text + ": no such pattern; choose ring, pairwise or mirror", kUsage);
}

SimWorkload iterations(const SimWorkloadArguments& a, uint64_t seed, const std::string& name,
                       const std::string& text, int64_t usual_scale) {
  const auto read = sim::parse_aicb(text, name);
  if (!read) stop(read.error());
  sim::AicbSettings s;
  s.pattern = parse_pattern(a.pattern);
  s.scale = a.scale.empty() ? usual_scale
                            : static_cast<int64_t>(or_stop(
                                  parse_whole("--scale", a.scale, 1, 1 << 20, "choose a whole number from 1")));
  s.jitter = or_stop(parse_probability("--jitter", a.jitter));
  s.iterations =
      or_stop(parse_whole("--iterations", a.iterations, 1, 1000, "choose a whole number from 1 to 1000"));
  s.seed = seed;
  return {std::to_string(s.iterations) + " iterations of " + name + ", a rank on each host, all by " +
              std::to_string(s.scale),
          true, [s, model = *read](sim::World& w) {
            return std::make_unique<sim::AicbWorkload>(w.network(), model, s, w.settings().topology.hosts());
          }};
}

/// Duty: gives addresses of a capture hosts of the network, each site's in the order of appearance.
class Endpoints {
 public:
  explicit Endpoints(const TraceSites& sites) : sites_(sites) {}
  uint32_t number(const IpAddress& ip, const IpAddress& peer) {
    const auto [found, is_new] = numbers_.try_emplace(ip, static_cast<uint32_t>(sites_of_.size()));
    if (is_new) sites_of_.push_back(sites_.site_of(ip, peer));
    return found->second;
  }
  size_t at(Site site) const {
    return static_cast<size_t>(std::count(sites_of_.begin(), sites_of_.end(), site));
  }
  /// Hosts by endpoint; more endpoints than hosts share them.
  std::vector<uint32_t> hosts(uint32_t per_site) const {
    std::vector<uint32_t> all;
    uint32_t next[2] = {};
    for (const Site s : sites_of_) all.push_back(static_cast<uint32_t>(s) * per_site + next[s]++ % per_site);
    return all;
  }

 private:
  const TraceSites& sites_;
  std::map<IpAddress, uint32_t> numbers_;
  std::vector<Site> sites_of_;
};

SimWorkload recorded(const SimWorkloadArguments& a) {
  const std::string& file = a.workload;
  const auto open = [&] {
    auto reader = CaptureReader::open(file);
    if (!reader) stop(reader.error());
    return std::move(*reader);
  };
  std::optional<Cidr> site_a;
  if (!a.site_a.empty()) site_a = or_stop(Cidr::parse(a.site_a));
  Progress bar("reading " + file, 0);
  auto flows = TraceFlows::scan(open(), site_a, [&](uint64_t bytes) { bar.update(bytes); });
  if (!flows) stop(flows.error());
  auto read = read_messages(open(), *flows);
  bar.finish();
  if (!read) stop(read.error());
  if (read->messages.empty())
    stop("--workload " + file +
         ": holds no whole message of RC or UC (WRITE, SEND, READ); see `matchrdma trace info`");
  Endpoints ends(flows->sites());
  std::vector<sim::RecordedMessage> messages;
  const Instant first = read->messages.front().start;
  const auto time = [&](Instant t) {
    return t.is_never() ? sim::SimTime::never() : sim::SimTime{} + sim::SimSpan::nanos((t - first).ns);
  };
  uint64_t bytes = 0;
  uint64_t left_out = 0;
  for (const TraceMessage& m : read->messages) {
    if (flows->streams()[m.qp].transport != Transport::kRc) {
      ++left_out;
      continue;
    }
    const uint32_t from = ends.number(m.source, m.destination), to = ends.number(m.destination, m.source);
    bytes += m.bytes;
    messages.push_back({from, to, m.qp, static_cast<int64_t>(std::max<uint64_t>(m.bytes, 1)), time(m.start),
                        time(m.completed), m.read});
  }
  if (messages.empty())
    stop("--workload " + file +
         ": all of its messages are UC: nobody acknowledges them, so they do not depend on the "
         "distance");
  if (ends.at(0) == 0 || ends.at(1) == 0)
    stop("--site-a " + a.site_a + ": all hosts of " + file +
             " stand at one site; name the addresses of the other (`matchrdma trace info` lists the hosts)",
         kUsage);
  std::string words = thousands(messages.size()) + " messages, " + bytes_text(bytes) + ", of " + file +
                      " between " + std::to_string(ends.at(0)) + " and " + std::to_string(ends.at(1)) +
                      " hosts";
  if (read->cut_off > 0) words += "; " + thousands(read->cut_off) + " more are cut off";
  if (left_out > 0) words += "; " + thousands(left_out) + " of UC are left out, nobody acknowledges them";
  words +=
      ".\nA message waits for those before it on its queue pair; what one side waited for from the other is "
      "not known";
  return {words, true, [messages, ends](sim::World& w) {
            return std::make_unique<sim::RecordedWorkload>(w.network(), messages,
                                                           ends.hosts(w.settings().topology.hosts_per_site()));
          }};
}

/// By name, or by what pcap and pcapng begin with.
bool is_capture(const std::string& file) {
  if (file.ends_with(".pcap") || file.ends_with(".pcapng")) return true;
  std::ifstream in(file, std::ios::binary);
  std::array<uint8_t, kCaptureMagicBytes> magic{};
  in.read(reinterpret_cast<char*>(magic.data()), magic.size());
  return in && begins_as_capture(magic);
}

/// The whole text of a description, which is small.
std::string text_of(const std::string& file) {
  constexpr size_t kMost = 16 << 20;
  std::ifstream in(file, std::ios::binary);
  if (!in)
    stop(
        "--workload " + file +
            ": no such workload and no file that can be read; choose loop, mixed, llama-7b, gpt-13b, zero-3, a "
            "capture (.pcap, .pcapng) or a file in AICB's format",
        kUsage);
  std::string text(kMost, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  if (text.size() == kMost)
    stop("--workload " + file + ": is larger than 16MiB: no description of a training job is");
  return text;
}

}  // namespace

std::string workload_kind(const std::string& workload) {
  if (workload == "loop" || workload == "mixed") return workload;
  const bool example = std::any_of(std::begin(sim::kAicbExamples), std::end(sim::kAicbExamples),
                                   [&](const sim::AicbExample& e) { return workload == e.name; });
  return !example && is_capture(workload) ? "capture" : "training";
}

SimWorkload parse_sim_workload(const SimWorkloadArguments& a, uint64_t seed) {
  if (a.workload == "loop") return loop(a);
  if (a.workload == "mixed") return mixed(a, seed);
  for (const sim::AicbExample& e : sim::kAicbExamples)
    if (a.workload == e.name) return iterations(a, seed, std::string(e.name), e.text(), e.scale);
  if (is_capture(a.workload)) return recorded(a);
  return iterations(a, seed, a.workload, text_of(a.workload), 64);
}

}  // namespace matchrdma
