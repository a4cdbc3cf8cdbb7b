#include "proxy/plan_report.h"

#include <cmath>
#include <ostream>

#include "config/units.h"
#include "host/planner/completion.h"
#include "host/planner/event_model.h"
#include "proxy/svg.h"
#include "proxy/table.h"

namespace matchrdma {
namespace {

using planner::Method;

std::string seconds_text(double s) {
  constexpr double kNanos = 1e9, kMostSeconds = 9e9;
  return s < kMostSeconds ? duration_text(std::llround(s * kNanos)) : "centuries";
}

std::string percent(double share) { return decimal(share * 100, 2) + " %"; }

/// Chance that a message loses a packet on its way.
double loses_some(const PlanQuestion& q) {
  const planner::Line line(q.link, q.message);
  return -std::expm1(static_cast<double>(line.packets) * std::log1p(-line.loss));
}

std::string reason_of(const PlanAnswer& a) {
  const PlanRow& sr = a.rows.front();
  const PlanRow& best = a.rows[a.choice];
  const double waits = sr.cost.mean - a.loss_free;
  if (a.choice == 0) {
    if (a.question.link.loss == 0) return "no packet is lost, so parity would only take time on the line";
    const PlanRow& code = a.rows[1];
    const std::string its = " that waiting for resends takes on the mean";
    if (code.cost.mean > sr.cost.mean)
      return "parity and what it cannot repair would take " + seconds_text(code.cost.mean - a.loss_free) +
             ", more than the " + seconds_text(waits) + its;
    return "parity would save less than 1 % of the " + seconds_text(sr.cost.mean) +
           ", and takes bytes on the line";
  }
  return "parity and what it cannot repair take " + seconds_text(best.cost.mean - a.loss_free) +
         ", where selective repeat waits " + seconds_text(waits) + " for resends on the mean, as " +
         percent(loses_some(a.question)) + " of the messages lose a packet";
}

std::string crossover_text(const PlanCrossover& c) {
  const std::string name = scheme_name(c.scheme);
  if (!c.where) return name + " beats SR for no size up to " + bytes_text(planner::kLargestMessage);
  const std::string begins = volume_text(static_cast<double>(c.where->begins));
  if (!c.where->ends)
    return name + " beats SR from " + begins + " up to " + bytes_text(planner::kLargestMessage) + " and beyond";
  return name + " beats SR from " + begins + " to " + volume_text(static_cast<double>(*c.where->ends));
}

PlanRow row_of(const PlanQuestion& q, const planner::Scheme& s) {
  const planner::Completion c(q.link, q.message, s);
  return {s, {c.mean(), c.line_bytes()}, c.quantile(0.5), c.quantile(0.99), c.quantile(0.999), {}};
}

void print_check(std::ostream& out, const PlanAnswer& a) {
  if (a.played == 0) return;
  out << "\nlargest difference to " << thousands(a.played) << " messages played packet by packet, "
      << percent(planner::allowed_difference(a.played)) << " allowed:\n";
  Table t({{"scheme"}, {"difference", Table::Align::kRight}});
  for (const PlanRow& r : a.rows) t.add({scheme_name(r.scheme), percent(*r.difference)});
  t.print(out);
}

}  // namespace

std::vector<planner::Scheme> plan_schemes(const planner::Code& code) {
  std::vector<planner::Scheme> all{{Method::kSelectiveRepeat, {}}, {Method::kErasureCode, code}};
  if (const planner::Code x = xor_like(code); x != code) all.push_back({Method::kErasureCode, x});
  all.push_back({Method::kGoBackN, {}});
  return all;
}

PlanAnswer answer(const PlanQuestion& q) {
  PlanAnswer a;
  a.question = q;
  std::vector<planner::Cost> costs;
  for (const planner::Scheme& s : plan_schemes(q.code)) {
    a.rows.push_back(row_of(q, s));
    if (s.method == Method::kErasureCode) a.crossovers.push_back({s, crossover(q.link, s.code)});
    if (s.method != Method::kGoBackN) costs.push_back(a.rows.back().cost);
  }
  a.loss_free = planner::Completion(q.link, q.message, {}).loss_free();
  a.choice = planner::best_of(costs);
  a.reason = reason_of(a);
  return a;
}

void print_plan(std::ostream& out, const PlanAnswer& a) {
  const PlanQuestion& q = a.question;
  out << volume_text(static_cast<double>(q.message)) << " over " << to_text(q.link.rate) << ", RTT "
      << to_text(q.link.rtt) << (q.link.cold ? ", cold" : "") << ", loss " << axis_number(q.link.loss)
      << ", packets of " << volume_text(static_cast<double>(q.link.packet_bytes)) << "\n\n";
  constexpr auto kRight = Table::Align::kRight;
  Table t({{"scheme"},
           {"mean", kRight},
           {"p50", kRight},
           {"p99", kRight},
           {"p99.9", kRight},
           {"x loss-free", kRight},
           {"on the line", kRight}});
  const std::string least = seconds_text(a.loss_free);
  t.add({"loss-free", least, least, least, least, "1.000", volume_text(static_cast<double>(q.message))});
  for (const PlanRow& r : a.rows)
    t.add({scheme_name(r.scheme), seconds_text(r.cost.mean), seconds_text(r.p50), seconds_text(r.p99),
           seconds_text(r.p999), decimal(r.cost.mean / a.loss_free, 3), volume_text(r.cost.line_bytes)});
  t.print(out);
  out << "\nchoose " << scheme_name(a.rows[a.choice].scheme) << ": " << a.reason << '\n';
  out << "by mean, at this distance and loss:\n";
  for (const PlanCrossover& c : a.crossovers) out << "  " << crossover_text(c) << '\n';
  print_check(out, a);
}

nlohmann::ordered_json plan_json(const PlanAnswer& a) {
  using Json = nlohmann::ordered_json;
  const PlanQuestion& q = a.question;
  constexpr double kNanos = 1e-9;
  const Duration rto = q.link.rto.ns == 0 ? q.link.rtt : q.link.rto;
  Json j{{"rtt_s", static_cast<double>(q.link.rtt.ns) * kNanos},
         {"rto_s", static_cast<double>(rto.ns) * kNanos},
         {"rate_bps", q.link.rate.bps},
         {"loss", q.link.loss},
         {"packet_bytes", q.link.packet_bytes},
         {"message_bytes", q.message},
         {"cold", q.link.cold},
         {"loss_free_s", a.loss_free}};
  for (const PlanRow& r : a.rows) {
    Json row{{"scheme", scheme_name(r.scheme)},
             {"mean_s", r.cost.mean},
             {"p50_s", r.p50},
             {"p99_s", r.p99},
             {"p999_s", r.p999},
             {"times_loss_free", r.cost.mean / a.loss_free},
             {"line_bytes", r.cost.line_bytes}};
    if (r.difference) row["largest_difference"] = *r.difference;
    j["schemes"].push_back(row);
  }
  j["choice"] = scheme_name(a.rows[a.choice].scheme);
  j["reason"] = a.reason;
  for (const PlanCrossover& c : a.crossovers) {
    Json of{{"scheme", scheme_name(c.scheme)}, {"begins_bytes", nullptr}, {"ends_bytes", nullptr}};
    if (c.where) of["begins_bytes"] = c.where->begins;
    if (c.where && c.where->ends) of["ends_bytes"] = *c.where->ends;
    j["beats_sr"].push_back(of);
  }
  if (a.played > 0) {
    j["messages_played"] = a.played;
    j["allowed_difference"] = planner::allowed_difference(a.played);
  }
  return j;
}

}  // namespace matchrdma
