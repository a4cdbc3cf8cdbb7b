// matchrdma plan: how one message should be made to survive the losses of a long link.
#include <iostream>
#include <memory>

#include "config/units.h"
#include "host/planner/completion.h"
#include "host/planner/event_model.h"
#include "proxy/code_option.h"
#include "proxy/commands.h"
#include "proxy/json_output.h"
#include "proxy/output_files.h"
#include "proxy/plan_picture.h"
#include "proxy/plan_report.h"
#include "proxy/progress.h"

namespace matchrdma {
namespace {

/// What was typed.
struct PlanArguments {
  std::string distance, rtt, rto, rate, loss, message, code = "32,8", packet = "4096", json, plot, check;
  bool cold = false;
};

constexpr Duration kLongestTrip = Duration::seconds(10);

Duration parse_trip(const std::string& option, const std::string& text) {
  const Duration d = or_stop(parse_duration(option, text));
  if (d.ns == 0 || d > kLongestTrip)
    stop(option + " " + text + ": out of range; choose more than 0, and " + to_text(kLongestTrip) + " at most",
         kUsage);
  return d;
}

Duration parse_round_trip(const PlanArguments& a) {
  if (a.distance.empty() == a.rtt.empty())
    stop(a.rtt.empty() ? "how far is it? Give --distance, like 2500km, or --rtt, like 25ms"
                       : "--distance " + a.distance + " and --rtt " + a.rtt + " say the same; give one of them",
         kUsage);
  if (!a.rtt.empty()) return parse_trip("--rtt", a.rtt);
  const double km = or_stop(parse_distance("--distance", a.distance));
  if (km == 0) stop("--distance " + a.distance + ": out of range; choose more than 0km", kUsage);
  return Duration::nanos(static_cast<int64_t>(2 * km * static_cast<double>(kNanosPerKm) + 0.5));
}

double parse_loss(const std::string& text) {
  const auto p = parse_probability("--loss", text);
  if (!p || *p > planner::kMostLoss)
    stop("--loss " + text + ": no loss to plan for; write it from 0 to 0.99, like 1e-5, or like 0.1%", kUsage);
  return *p;
}

uint64_t parse_size(const std::string& option, const std::string& text, uint64_t least, uint64_t most) {
  const uint64_t bytes = or_stop(parse_bytes(option, text));
  if (bytes < least || bytes > most)
    stop(option + " " + text + ": out of range; choose " + bytes_text(least) + " to " + bytes_text(most),
         kUsage);
  return bytes;
}

PlanQuestion question_of(const PlanArguments& a) {
  PlanQuestion q;
  q.link.rtt = parse_round_trip(a);
  if (!a.rto.empty()) q.link.rto = parse_trip("--rto", a.rto);
  if (q.link.rto.ns != 0 && q.link.rto < q.link.rtt)
    stop("--rto " + a.rto + ": before an answer can be back; choose " + to_text(q.link.rtt) + " or more",
         kUsage);
  q.link.rate = or_stop(parse_rate("--rate", a.rate));
  q.link.loss = parse_loss(a.loss);
  q.link.cold = a.cold;
  constexpr uint64_t kLeastPacket = 64, kMostPacket = 1 << 20;
  q.link.packet_bytes = parse_size("--packet", a.packet, kLeastPacket, kMostPacket);
  q.message = parse_size("--message", a.message, 1, planner::kLargestMessage);
  const CodeOption code = or_stop(parse_code(a.code));
  q.code.k = code.k;
  q.code.m = code.m;
  return q;
}

uint64_t parse_check(const PlanArguments& a, const PlanQuestion& q) {
  if (a.check.empty()) return 0;
  constexpr uint64_t kLeast = 1000, kMost = 1'000'000, kMostPackets = 100'000'000'000;
  const uint64_t n =
      or_stop(parse_whole("--check", a.check, kLeast, kMost,
                          "how many messages are played; choose a whole number from 1000 to 1000000"));
  const auto packets = static_cast<uint64_t>(planner::Line(q.link, q.message).packets);
  if (packets * n > kMostPackets)
    stop("--check " + a.check + ": " + std::to_string(packets) + " packets each would take hours; choose " +
             (packets * kLeast > kMostPackets ? "a smaller --message"
                                              : std::to_string(kMostPackets / packets) + " at most"),
         kUsage);
  return n;
}

/// Plays `n` messages by each scheme. False when one is not as its formula says.
bool play(PlanAnswer& a, uint64_t n) {
  constexpr uint64_t kSeed = 1;
  bool agree = true;
  const PlanQuestion& q = a.question;
  for (PlanRow& r : a.rows) {
    Progress bar("playing " + scheme_name(r.scheme), n, 1);
    planner::EventModel model(q.link, q.message, r.scheme, kSeed);
    std::vector<int64_t> played;
    for (uint64_t i = 0; i < n; ++i, bar.update(i)) played.push_back(model.next());
    bar.finish();
    const planner::Completion formula(q.link, q.message, r.scheme);
    r.difference = largest_difference(formula, std::move(played));
    agree = agree && *r.difference <= planner::allowed_difference(n);
  }
  a.played = n;
  return agree;
}

void run_plan(const PlanArguments& a) {
  const PlanQuestion q = question_of(a);
  const uint64_t messages = parse_check(a, q);
  if (!a.plot.empty() && !a.plot.ends_with(".svg"))
    stop("--plot " + a.plot + ": no such kind of picture; name a file that ends in .svg", kUsage);
  const std::vector<OutputFile> outputs{{"--json", a.json}, {"--plot", a.plot}};
  or_stop(check_outputs("", outputs));
  if (auto r = check_writable(outputs); !r) stop(r.error());
  PlanAnswer found = answer(q);
  const bool agree = messages == 0 || play(found, messages);
  if (a.json != "-") print_plan(std::cout, found);
  if (!std::cout.flush()) stop("(stdout): write failed; the report is incomplete");
  if (!a.json.empty())
    if (auto r = write_json(plan_json(found), a.json); !r) stop(r.error());
  if (!a.plot.empty())
    if (auto r = write_file(a.plot, [&](std::ostream& out) { out << plan_svg(q); }); !r) stop(r.error());
  if (!agree) stop("--check " + a.check + ": a formula is further from what was played than allowed");
}

}  // namespace

void add_plan_command(CLI::App& app) {
  CLI::App* c = app.add_subcommand(
      "plan", "Completion times of one message over a lossy long link: selective repeat, erasure code or XOR?");
  auto a = std::make_shared<PlanArguments>();
  c->add_option("--distance", a->distance, "Length of the link, like 2500km (5 us a km, one way)");
  c->add_option("--rtt", a->rtt, "Or its round trip, like 25ms");
  c->add_option("--rate", a->rate, "What it carries of payload, like 400G")->required();
  c->add_option("--loss", a->loss, "Chance of a packet to be lost, like 1e-5")->required();
  c->add_option("--message", a->message, "Bytes of the message, like 128MiB")->required();
  c->add_option("--code", a->code, "Data and parity packets of a codeword (32,8)");
  c->add_flag("--cold", a->cold, "The receiver grants nothing ahead: one round trip more");
  c->add_option("--packet", a->packet, "Payload bytes of a packet (4096)");
  c->add_option("--rto", a->rto, "From the end of a packet to its resend (the round trip, the least)");
  c->add_option("--json", a->json, "Also write the figures as JSON to this file; - is stdout, without tables");
  c->add_option("--plot", a->plot, "Draw mean completion over message size: FILE.svg");
  c->add_option("--check", a->check, "Play so many messages packet by packet, and fail where formulas differ");
  c->footer("Example: matchrdma plan --distance 2500km --rate 400G --loss 1e-5 --message 128MiB");
  c->callback([a] { run_plan(*a); });
}

}  // namespace matchrdma
