// matchrdma replay TRACE: two proxies and a long span, fed from a capture.
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

#include "config/config.h"
#include "config/units.h"
#include "pcap/replay_options.h"
#include "proxy/commands.h"
#include "proxy/json_output.h"
#include "proxy/output_files.h"
#include "proxy/progress.h"
#include "proxy/replay_report.h"
#include "proxy/slots_file.h"

namespace matchrdma {
namespace {

/// What was typed; checked when the command runs, so that every complaint names option, value and remedy.
struct ReplayArguments {
  ReplayOptions options;
  std::string distance = "1000", rate = "100Gbps", budget = "100Gbps", completion = "early";
  std::string loss = "0", reorder = "0", duplicate = "0", corrupt = "0", cut, site_a, seed = "1";
  std::string estimator = "fixed", slot = "200us", line_rate = "100Gbps", queue_target;
  std::vector<const CLI::Option*> of_estimator;  ///< that say nothing without one
  std::string json, slots;
  std::string registering = "off";
  bool gain_only = false;
};

Completion parse_completion(const std::string& text) {
  if (text == "early") return Completion::kEarly;
  if (text == "end-to-end") return Completion::kEndToEnd;
  if (text == "transparent") return Completion::kTransparent;
  stop("--completion " + text + ": no such policy; choose early, end-to-end or transparent", kUsage);
}

std::optional<ReplayCut> parse_cut(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const size_t comma = text.find(',');
  if (comma == std::string::npos)
    stop("--cut " + text +
             ": needs a start and a length; write it like 10ms,50ms (dark 10 ms after the first packet, for 50 "
             "ms)",
         kUsage);
  return ReplayCut{or_stop(parse_duration("--cut", text.substr(0, comma))),
                   or_stop(parse_duration("--cut", text.substr(comma + 1)))};
}

std::optional<EstimatorSettings> parse_estimator(const ReplayArguments& a) {
  EstimatorSettings e;
  e.slot = or_stop(
      parse_duration_between("--slot", a.slot, EstimatorConfig::kLeastSlot, EstimatorConfig::kMostSlot));
  e.line_rate = or_stop(parse_rate("--line-rate", a.line_rate));
  if (!a.queue_target.empty())
    e.queue_target = or_stop(parse_bytes_between("--queue-target", a.queue_target,
                                                 EstimatorConfig::kLeastTarget, EstimatorConfig::kMostTarget));
  for (const Scheme s : {Scheme::kEarned, Scheme::kPaper}) {
    e.scheme = s;
    if (a.estimator == scheme_word(s)) return e;
  }
  if (a.estimator != "fixed")
    stop("--estimator " + a.estimator + ": no such estimator; choose fixed, earned or paper", kUsage);
  for (const CLI::Option* o : a.of_estimator)
    if (o->count() > 0)
      stop(o->get_name() + " " + o->as<std::string>() +
               ": there are no slots where budgets are fixed; add --estimator earned (or paper)",
           kUsage);
  return std::nullopt;
}

void check(ReplayArguments& a) {
  ReplayOptions& o = a.options;
  if (o.trace == "-")
    stop("replay -: a trace is read twice, which a pipe does not allow; write it to a file and name that",
         kUsage);
  o.distance_km = or_stop(parse_distance("--distance", a.distance));
  o.rate = or_stop(parse_rate("--rate", a.rate));
  o.budget = or_stop(parse_rate("--budget", a.budget));
  o.estimator = parse_estimator(a);
  if (o.estimator && o.transparent)
    stop("--estimator " + a.estimator + ": transparent proxies have no budgets; leave out one of the two",
         kUsage);
  o.keep_slots = !a.slots.empty();
  o.completion = parse_completion(a.completion);
  o.loss = or_stop(parse_probability("--loss", a.loss));
  o.reorder = or_stop(parse_probability("--reorder", a.reorder));
  o.duplicate = or_stop(parse_probability("--duplicate", a.duplicate));
  o.corrupt = or_stop(parse_probability("--corrupt", a.corrupt));
  o.cut = parse_cut(a.cut);
  o.seed = or_stop(parse_seed("--seed", a.seed));
  if (!a.site_a.empty()) o.site_a = or_stop(Cidr::parse(a.site_a));
  if (a.registering != "on" && a.registering != "off")
    stop("--register " + a.registering + ": choose on or off", kUsage);
  o.register_flows = a.registering == "on";
}

/// One bar per phase; phases come one after the other.
class PhaseBar {
 public:
  void operator()(const char* phase, uint64_t done, uint64_t total) {
    if (phase != phase_) {
      phase_ = phase;
      bar_ = std::make_unique<Progress>(phase, total);
    }
    bar_->update(done);
  }

 private:
  const char* phase_ = nullptr;
  std::unique_ptr<Progress> bar_;
};

// Nothing is opened for writing before all of it is known to be safe.
void check_files(const ReplayArguments& a) {
  const ReplayOptions& o = a.options;
  std::error_code e;
  if (std::filesystem::exists(o.trace, e) && !std::filesystem::is_directory(o.trace, e) &&
      !std::filesystem::is_regular_file(o.trace, e))
    stop("replay " + o.trace +
             ": a trace is read twice, which a pipe does not allow; write it to a file and name that",
         kUsage);
  for (const std::string* w : {&o.write_lan_a, &o.write_lan_b, &o.write_wan})
    if (*w == "-") stop("--write-... -: stdout carries the report; name a file", kUsage);
  if (a.slots == "-") stop("--slots -: stdout carries the report; name a file", kUsage);
  if (a.gain_only && a.json == "-")
    stop("--gain --json -: stdout is for one of them; name a file for the JSON", kUsage);
  const std::vector<OutputFile> outputs{{"--write-lan-a", o.write_lan_a},
                                        {"--write-lan-b", o.write_lan_b},
                                        {"--write-wan", o.write_wan},
                                        {"--slots", a.slots},
                                        {"--json", a.json}};
  or_stop(check_outputs(o.trace, outputs));
  if (auto r = check_writable(outputs); !r) stop(r.error());
}

void run_replay(ReplayArguments& a) {
  check(a);
  check_files(a);
  auto bar = std::make_shared<PhaseBar>();
  a.options.progress = [bar](const char* phase, uint64_t done, uint64_t total) { (*bar)(phase, done, total); };
  auto result = replay(a.options);
  a.options.progress = nullptr;
  bar.reset();
  if (!result) stop(result.error());
  if (a.gain_only) {
    const std::string gain = replay_gain(a.options, *result);
    std::cout << (!gain.empty()               ? gain
                  : result->delivery.broken() ? "No gain: the proxies broke a promise (see the report)."
                                              : "No gain: no message was answered sooner than without proxies.")
              << '\n';
  } else if (a.json != "-") {
    print_replay(std::cout, a.options, *result);
  }
  if (!std::cout.flush()) stop("(stdout): write failed; the report is incomplete");
  if (!a.json.empty())
    if (auto r = write_json(replay_json(a.options, *result), a.json); !r) stop(r.error());
  if (!a.slots.empty())
    if (auto r = write_slots(*a.options.estimator, result->slots, a.slots); !r) stop(r.error());
  if (!result->trace.incomplete.empty())
    std::cerr << "matchrdma: warning: " << result->trace.incomplete << '\n';
  if (result->delivery.broken())
    stop(
        "the proxies broke a promise: see the lines with BROKEN in the report; please report this with the "
        "capture",
        kBroken);
}

void add_span_options(CLI::App& c, ReplayArguments& a) {
  c.add_option("--distance", a.distance, "Length of the span in km (1000)");
  c.add_option("--rate", a.rate, "Rate of the span (100Gbps)");
  c.add_option("--budget", a.budget, "Rate one receiver is given (100Gbps)");
  c.add_option("--loss", a.loss, "Probability that the span loses a packet or message");
  c.add_option("--reorder", a.reorder, "Probability that one comes up to 50 us late");
  c.add_option("--duplicate", a.duplicate, "Probability that one comes twice");
  c.add_option("--corrupt", a.corrupt, "Probability that one is spoiled");
  c.add_option("--cut", a.cut, "AT,FOR: the span is dark AT after the first packet, like 10ms,50ms");
  c.add_option("--seed", a.seed, "Seed of all chance (1): same seed, same run");
}

void add_estimator_options(CLI::App& c, ReplayArguments& a) {
  c.add_option(
      "--estimator", a.estimator,
      "Who says how fast a receiver may be sent to: fixed (default): --budget; earned: the proxy before "
      "it, within --budget; paper: the same by the published weights");
  a.of_estimator = {
      c.add_option("--slot", a.slot, "Budgets are made so often: 50us to 10ms (200us)"),
      c.add_option("--line-rate", a.line_rate, "Rate of the receivers' LAN port (100Gbps)"),
      c.add_option("--queue-target", a.queue_target,
                   "Bytes that may wait for a receiver, so that a rise shows, like 64KiB (24 us of the line)"),
      c.add_option("--slots", a.slots, "Write every slot of the estimator as JSON: see matchrdma slots")};
}

}  // namespace

void add_replay_command(CLI::App& app) {
  CLI::App* c = app.add_subcommand("replay", "Replay a capture through a proxy pair and a long span");
  auto a = std::make_shared<ReplayArguments>();
  c->add_option("trace", a->options.trace, "Capture of RoCEv2 traffic, pcap or pcapng")->required();
  add_span_options(*c, *a);
  add_estimator_options(*c, *a);
  c->add_option("--completion", a->completion, "early (default), end-to-end or transparent");
  c->add_option("--register", a->registering,
                "off (default): the proxies' learners find the QP pairs; on: register those that a first "
                "pass finds, as an orchestrator would")
      ->expected(0, 1);
  c->add_flag("--transparent", a->options.transparent, "Both proxies only watch");
  c->add_option("--site-a", a->site_a, "Addresses that stand before proxy A, like 10.9.0.0/24");
  c->add_option("--write-lan-a", a->options.write_lan_a,
                "Write what proxy A sent into its LAN (nanosecond pcap)");
  c->add_option("--write-lan-b", a->options.write_lan_b, "The same of proxy B");
  c->add_option("--write-wan", a->options.write_wan, "Write what both proxies sent into the span");
  c->add_option("--json", a->json, "Also write the report as JSON to this file; - is stdout, without tables");
  c->add_flag("--gain", a->gain_only, "Print one line only: what was gained");
  c->callback([a] { run_replay(*a); });
}

}  // namespace matchrdma
