#include "proxy/replay_report.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <ostream>

#include "config/units.h"
#include "dataplane/base/ip_text.h"
#include "pcap/trace_info.h"
#include "proxy/table.h"

namespace matchrdma {
namespace {

using Align = Table::Align;

std::string number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", v);
  return text;
}

std::string rate_text(Rate r) {
  if (r.bps >= 1'000'000'000) return number(static_cast<double>(r.bps) / 1e9) + " Gb/s";
  return number(static_cast<double>(r.bps) / 1e6) + " Mb/s";
}

std::string bytes_text(uint64_t n) {
  if (n >= 10'000'000) return number(static_cast<double>(n / 10'000) / 100) + " MB";
  return thousands(n) + " B";
}

const char* completion_text(const ReplayOptions& o) {
  if (o.transparent) return "transparent: both proxies only watch";
  switch (o.completion) {
    case Completion::kEarly:
      return "early: a work request completes when proxy A has it in custody";
    case Completion::kEndToEnd:
      return "end-to-end: a work request completes when the receiver has it";
    case Completion::kTransparent:
      break;
  }
  return "transparent";
}

void print_setting(std::ostream& out, const ReplayOptions& o, const ReplayResult& r) {
  out << r.trace.file << "\n  replayed over " << number(o.distance_km) << " km ("
      << duration_text(o.one_way().ns) << " one way), span " << rate_text(o.rate) << ", budget "
      << rate_text(o.budget);
  if (o.estimator)
    out << " at most\n  estimator " << scheme_word(o.estimator->scheme) << ", slots of "
        << to_text(o.estimator->slot) << ", line " << rate_text(o.estimator->line_rate);
  out << "\n  completion " << completion_text(o) << "\n";
}

void print_seen(std::ostream& out, const ReplayResult& r) {
  const TraceCounts& t = r.trace;
  out << "\nWhat was seen\n";
  Table counts({{"", Align::kLeft}, {"", Align::kRight}});
  counts.add({"packets", thousands(t.packets)});
  counts.add({"RoCEv2", thousands(t.roce)});
  for (const auto& [name, n] : {std::pair{"wrong ICRC", t.icrc_bad},
                                {"malformed", t.malformed},
                                {"truncated", t.truncated},
                                {"not RoCEv2", t.not_roce}})
    if (n != 0) counts.add({name, thousands(n)});
  for (size_t i = 0; i < t.opcodes.size(); ++i)
    if (t.opcodes[i] != 0)
      counts.add({std::string("  ") + opcode_name(static_cast<uint8_t>(i)), thousands(t.opcodes[i])});
  counts.print(out);
}

// What the proxies left alone, one line for each reason.
void print_why_not(std::ostream& out, const ReplayResult& r) {
  std::map<std::string, uint64_t> flows;
  for (size_t i = 0; i < r.streams.size(); ++i) {
    if (r.streams[i].request_packets != 0 && !r.learned[i].why_not.empty()) ++flows[r.learned[i].why_not];
  }
  for (const auto& [why, n] : flows)
    out << "  " << thousands(n) << (n == 1 ? " flow" : " flows") << " left alone: " << why << "\n";
}

// What the proxies paired; in brackets what only the whole capture tells, which they never saw.
std::string source_qp_text(const ReplayResult& r, size_t i) {
  const SourceQp q = source_qp(r, i);
  if (!q.qpn) return "-";
  const std::string number = std::to_string(q.qpn->v);
  return q.by_proxies ? number : "(" + number + ")";
}

void print_flows(std::ostream& out, const ReplayResult& r) {
  Table flows({{"flow"},
               {"source QP", Align::kRight},
               {"dest QP", Align::kRight},
               {"learned by"},
               {"MTU", Align::kRight},
               {"packets", Align::kRight},
               {"messages", Align::kRight},
               {"bytes", Align::kRight},
               {"evidence"}});
  constexpr size_t kMaxRows = 40;  // more are in the JSON
  size_t rows = 0;
  bool lives = false, bracket = false;
  for (size_t i = 0; i < r.streams.size(); ++i) {
    const TraceStream& s = r.streams[i];
    if (s.request_packets == 0 || ++rows > kMaxRows) continue;
    const char* transport = s.transport == Transport::kRc   ? "RC "
                            : s.transport == Transport::kUc ? "UC "
                                                            : "UD ";
    flows.add({transport + ip_text(s.key.src) + " -> " + ip_text(s.key.dst), source_qp_text(r, i),
               std::to_string(s.key.dst_qpn.v), r.learned[i].by,
               s.path_mtu != 0 ? std::to_string(s.path_mtu) : "-", thousands(s.request_packets),
               thousands(s.messages), thousands(s.bytes), evidence_text(r, i)});
    lives = lives || s.life > 0;
    bracket = bracket || (source_qp(r, i).qpn && !source_qp(r, i).by_proxies);
  }
  if (flows.empty()) return;
  out << "\nFlows\n";
  flows.print(out);
  if (bracket) out << "  (QP): the proxies paired it with nobody; the whole capture says so\n";
  if (lives) out << "  A queue pair that is used anew has a line for each of its lives\n";
  print_why_not(out, r);
  if (rows > kMaxRows) out << "  ... and " << thousands(rows - kMaxRows) << " more (see --json)\n";
}

void print_latency(std::ostream& out, const ReplayResult& r) {
  if (r.without_proxy.samples == 0 && r.with_proxy.samples == 0) return;
  out << "\nACK latency of SEND and WRITE messages\n";
  Table t({{""},
           {"p50", Align::kRight},
           {"p99", Align::kRight},
           {"max", Align::kRight},
           {"messages", Align::kRight}});
  const auto row = [&t](const char* name, const Percentiles& p) {
    if (p.samples == 0) {
      t.add({name, "-", "-", "-", "0"});
    } else {
      t.add({name, duration_text(p.p50), duration_text(p.p99), duration_text(p.max), thousands(p.samples)});
    }
  };
  row("with the proxies", r.with_proxy);
  if (r.by_receiver.samples != 0 && r.by_proxy.samples != 0) {
    row("  before activation", r.by_receiver);
    row("  after", r.by_proxy);
  }
  row("without", r.without_proxy);
  t.print(out);
}

uint64_t naks_made(const ReplayResult& r) {
  uint64_t n = 0;
  for (const Counters& c : r.proxy) n += c.naks_sent + c.fault_naks;
  return n;
}

void print_made(std::ostream& out, const ReplayResult& r) {
  const auto sum = [&r](uint64_t Counters::*f) { return thousands(r.proxy[0].*f + r.proxy[1].*f); };
  out << "\nWhat the proxies did\n";
  Table t({{""}, {"", Align::kRight}});
  t.add({"ACKs made for senders", sum(&Counters::pseudo_acks)});
  t.add({"NAKs made for senders", thousands(naks_made(r))});
  if (r.proxy[0].faults + r.proxy[1].faults != 0) {
    t.add({"QPs failed", sum(&Counters::faults)});
    t.add({"  whose sender was idle and cannot be told", sum(&Counters::idle_fault_events)});
  }
  t.add({"CNPs made", sum(&Counters::cnps)});
  t.add({"real ACKs absorbed", sum(&Counters::real_acks_absorbed)});
  t.add({"real NAKs absorbed", sum(&Counters::real_naks_absorbed)});
  t.add({"real RNR NAKs absorbed", sum(&Counters::real_rnrs_absorbed)});
  t.add({"peak custody", bytes_text(std::max(r.proxy[0].custody_peak, r.proxy[1].custody_peak))});
  t.add({"peak destination buffer", bytes_text(std::max(r.proxy[0].held_peak, r.proxy[1].held_peak))});
  t.add({"peak queue of the span", bytes_text(static_cast<uint64_t>(r.span.peak_queue_bytes))});
  t.print(out);
}

void print_budgets(std::ostream& out, const ReplayResult& r) {
  if (r.budgets.empty()) return;
  out << "\nBudgets that the estimators made, before --budget bounds them\n";
  Table t({{"proxy"},
           {"receiver"},
           {"budgets", Align::kRight},
           {"lowest", Align::kRight},
           {"highest", Align::kRight}});
  constexpr size_t kMaxRows = 20;  // more are in the file of --slots
  for (size_t i = 0; i < r.budgets.size() && i < kMaxRows; ++i) {
    const BudgetSummary& b = r.budgets[i];
    t.add({site_letter(b.site), ip_text(b.group.dst), thousands(b.made), rate_text(b.lowest),
           rate_text(b.highest)});
  }
  t.print(out);
  if (r.budgets.size() > kMaxRows)
    out << "  ... and " << thousands(r.budgets.size() - kMaxRows) << " more (see --slots)\n";
}

void print_delivery(std::ostream& out, const ReplayResult& r) {
  const DeliveryReport& d = r.delivery;
  out << "\nDelivery\n";
  Table t({{""}, {"", Align::kRight}});
  t.add({"distinct requests in", thousands(d.requests_in)});
  t.add({"distinct requests out", thousands(d.requests_out)});
  t.add({"not delivered", thousands(d.lost)});
  if (d.gone_on_span != 0) t.add({"  lost by the span before a proxy answered", thousands(d.gone_on_span)});
  const bool any = d.requests_out + d.responses_out != 0;
  t.add({"in order", !any ? "-" : d.in_order ? "yes" : "NO"});
  t.add({"bytes identical", !any ? "-" : d.bytes_identical && d.responses_identical ? "yes" : "NO"});
  for (const auto& [cause, n] : d.copies) t.add({"further copies: " + cause, thousands(n)});
  if (d.responses_in != 0)
    t.add({"READ responses and atomic ACKs in / out",
           thousands(d.responses_in) + " / " + thousands(d.responses_out)});
  if (r.span.lost + r.span.corrupted != 0) {
    t.add({"packets lost on the span", thousands(r.span.lost)});
    t.add({"packets spoiled on the span", thousands(r.span.corrupted)});
    t.add({"lost requests repaired", thousands(r.span.repaired)});
    t.add({"responses lost on the span", thousands(r.span.responses_lost)});
  }
  if (r.unanswered_requests != 0)
    t.add({"delivered, never answered in the recording", thousands(r.unanswered_requests)});
  if (r.released_without_cause != 0)
    t.add({"answers sent though what they answer never arrived", thousands(r.released_without_cause)});
  t.print(out);
}

void print_broken(std::ostream& out, const DeliveryReport& d) {
  const std::pair<const char*, uint64_t> broken[] = {
      {"packets of the proxies with a wrong ICRC", d.bad_icrc_out},
      {"requests that left but never entered", d.unknown_out},
      {"ACKs or NAKs at or above an unanswered READ", d.aeth_above_fence},
      {"ACKs for packets that never entered", d.aeth_not_owned}};
  for (const auto& [what, n] : broken)
    if (n != 0) out << "  BROKEN: " << thousands(n) << " " << what << "\n";
}

void print_bypassed(std::ostream& out, const ReplayResult& r) {
  Table t({{"reason"}, {"proxy A", Align::kRight}, {"proxy B", Align::kRight}, {"meaning"}});
  for (size_t i = 1; i < kReasonKeys.size(); ++i) {
    const auto reason = static_cast<Reason>(i);
    const uint64_t a = r.proxy[0].reasons[reason], b = r.proxy[1].reasons[reason];
    if (a + b != 0) t.add({reason_key(reason), thousands(a), thousands(b), reason_text(reason)});
  }
  if (t.empty()) return;
  out << "\nWhat was not acted on, and why\n";
  t.print(out);
}

void print_hosts(std::ostream& out, const ReplayResult& r) {
  Table t({{"host"}, {"site"}, {"packets", Align::kRight}, {"later than captured", Align::kRight}});
  constexpr size_t kMaxRows = 20;
  for (size_t i = 0; i < r.hosts.size() && i < kMaxRows; ++i) {
    const HostReport& h = r.hosts[i];
    t.add({h.name, site_letter(h.site), thousands(h.packets), duration_text(h.shift.ns)});
  }
  if (t.empty()) return;
  out << "\nHosts\n";
  t.print(out);
}

}  // namespace

void print_replay(std::ostream& out, const ReplayOptions& o, const ReplayResult& r) {
  if (const std::string nothing = nothing_text(r); !nothing.empty()) {
    out << nothing << "\n";
    return;
  }
  print_setting(out, o, r);
  print_seen(out, r);
  print_flows(out, r);
  print_made(out, r);
  print_latency(out, r);
  print_budgets(out, r);
  print_delivery(out, r);
  print_broken(out, r.delivery);
  print_bypassed(out, r);
  print_hosts(out, r);
  for (const std::string& w : r.warnings) out << "\nWarning: " << w << "\n";
  if (const std::string gain = replay_gain(o, r); !gain.empty()) out << "\n" << gain << "\n";
}

}  // namespace matchrdma
