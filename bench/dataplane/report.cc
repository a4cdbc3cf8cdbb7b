#include "bench/dataplane/report.h"

#include <algorithm>
#include <ostream>

#include "bench/statistics.h"

namespace matchrdma::dataplane_bench {
namespace {

constexpr double kLateNs = 20'000;
constexpr uint32_t kHeaders = 58;  ///< Ethernet, IPv4, UDP, BTH and ICRC

double ratio(double a, double b) { return b > 0 ? a / b : 0; }

double share_above(double limit, const std::vector<double>& all) {
  const auto n = std::count_if(all.begin(), all.end(), [&](double v) { return v > limit; });
  return ratio(static_cast<double>(n), static_cast<double>(all.size()));
}

std::string whole(double v) { return decimal(v, 0); }

}  // namespace

void Report::add(const Point& p) {
  if (p.o.completion == Completion::kTransparent) {
    add_role(p, "transparent", lower_quartile(p.t.source));
    return;
  }
  add_role(p, "source", lower_quartile(p.t.source));
  add_role(p, "destination", lower_quartile(p.t.destination));
}

void Report::add_role(const Point& p, const char* role, double cycles) {
  const uint32_t payload = p.o.traffic.payload, flows = p.o.traffic.flows;
  const double sum = lower_quartile(p.t.primitives), pps = hz_ / cycles, r = ratio(cycles, sum);
  const double gbps = pps * (payload + kHeaders) * 8 / 1e9;
  const double port = lower_quartile(p.t.port), lookup = lower_quartile(p.t.lookup),
               icrc = lower_quartile(p.t.icrc), retain = lower_quartile(p.t.retain),
               acks = lower_quartile(p.t.acks);
  roles_.add({role, std::to_string(payload), std::to_string(flows), p.o.check_icrc ? "on" : "off",
              decimal(pps / 1e6, 2), whole(gbps), whole(cycles), whole(sum), decimal(r, 2), whole(port),
              whole(lookup), whole(icrc), whole(retain), whole(acks), std::to_string(p.t.custody),
              decimal(1000.0 * static_cast<double>(p.t.span_datagrams) / static_cast<double>(p.t.packets), 1)});
  json_.push_back({{"role", role},
                   {"payload", payload},
                   {"flows", flows},
                   {"icrc", p.o.check_icrc},
                   {"message_packets", p.o.traffic.message_packets},
                   {"report_us", p.o.report_us},
                   {"packets_per_second", pps},
                   {"cycles", cycles},
                   {"sum_of_primitives", sum},
                   {"ratio", r},
                   {"custody_packets", p.t.custody},
                   {"port", port},
                   {"lookup", lookup},
                   {"icrc_cycles", icrc},
                   {"retain", retain},
                   {"acks", acks},
                   {"registered_seconds", p.t.registered_seconds}});
  const std::string where =
      std::string(role) + ", " + std::to_string(payload) + " B, " + std::to_string(flows) + " flows";
  if (payload == 4096) aim(where + ": Gb/s of a core", gbps, 100, false);
  if (p.o.completion == Completion::kTransparent || !p.o.check_icrc || payload < 1024) return;
  if (flows == 1000) aim(where + ": of the sum of primitives", r, 1.3, true);
  if (flows == 1'000'000) aim(where + ": of the sum of primitives", r, 1.6, true);
}

void Report::add(const TrafficOptions& o, const Stages& s) {
  const double parse = lower_quartile(s.parse), lookup = lower_quartile(s.lookup),
               icrc = lower_quartile(s.icrc);
  stages_.add({std::to_string(o.payload), std::to_string(o.flows), whole(parse), whole(lookup), whole(icrc)});
  json_.push_back({{"role", "stages"},
                   {"payload", o.payload},
                   {"flows", o.flows},
                   {"parse", parse},
                   {"lookup", lookup},
                   {"icrc_cycles", icrc}});
}

void Report::add(const Forwarded& f) {
  const double worker = median(f.worker), io = median(f.io), csum = median(f.csum), r = ratio(worker, io);
  forward_.add({std::to_string(f.frame), decimal(worker / 1e6, 2), decimal(io / 1e6, 2), decimal(csum / 1e6, 2),
                decimal(r, 2)});
  json_.push_back({{"role", "forward"},
                   {"frame", f.frame},
                   {"packets_per_second", worker},
                   {"testpmd_io", io},
                   {"testpmd_csum", csum},
                   {"ratio", r}});
  if (f.frame == 1024 + kHeaders) aim("forwarding, 1 KiB: of testpmd io", r, 0.6, false);
}

void Report::add_ack(double cycles) {
  json_.push_back({{"role", "pseudo-ACK"}, {"cycles", cycles}});
  aim("pseudo-ACK: cycles to make one", cycles, 80, true);
}

void Report::add(double load, const Delays& d) {
  add_delays(load, "source", d.source);
  add_delays(load, "destination", d.destination);
  // The same packets in the same order; the destination's are those that crossed the span meanwhile.
  std::vector<double> both(std::min(d.source.size(), d.destination.size()));
  for (size_t i = 0; i < both.size(); ++i) both[i] = d.source[i] + d.destination[i];
  add_delays(load, "the pair", both);
  if (load == 0.5)
    aim("share of packets delayed by more than 20 us at half load", share_above(kLateNs, both), 0.01, true);
}

void Report::add_delays(double load, const char* what, const std::vector<double>& ns) {
  const double p50 = quantile(0.5, ns), p99 = quantile(0.99, ns), p999 = quantile(0.999, ns);
  const double late = share_above(kLateNs, ns);
  delays_.add({decimal(100 * load, 0) + " %", what, decimal(p50 / 1e3, 2), decimal(p99 / 1e3, 2),
               decimal(p999 / 1e3, 2), decimal(100 * late, 3) + " %"});
  json_.push_back({{"role", std::string("delay of ") + what},
                   {"load", load},
                   {"packets", ns.size()},
                   {"p50_ns", p50},
                   {"p99_ns", p99},
                   {"p999_ns", p999},
                   {"above_20_us", late}});
}

void Report::print(std::ostream& out) const {
  if (!roles_.empty()) {
    roles_.print(out);
    out << "\ncycles of the time stamp counter per packet, lower quartiles of turns in which all take part;\n"
           "sum: the same packets through a port, a hash table, the ICRC, a reference kept as long, an ACK's\n"
           "buffer; behind the ratio the same steps alone\n\n";
  }
  if (!stages_.empty()) {
    stages_.print(out);
    out << "\ncycles per packet of the Shard's first steps alone, in bursts, over the same packets\n\n";
  }
  if (!forward_.empty()) {
    forward_.print(out);
    out << "\nboth ways together, between two net_null ports with copy=1 on one core, in turns\n\n";
  }
  if (!delays_.empty()) {
    delays_.print(out);
    out << "\npackets of 1 KiB and 1,000 flows that come at random, at a share of what the worker can do\n\n";
  }
  if (!aims_.empty()) aims_.print(out);
}

void Report::aim(const std::string& what, double is, double wanted, bool at_most) {
  const bool holds = at_most ? is <= wanted : is >= wanted;
  missed_ |= !holds;
  aims_.add({what, decimal(is, 2), (at_most ? "at most " : "at least ") + decimal(wanted, 2),
             holds ? "yes" : "MISSED"});
}

}  // namespace matchrdma::dataplane_bench
