#pragma once
// What the benchmark says, for people and for machines, and which aims hold.
#include <nlohmann/json.hpp>

#include <iosfwd>
#include <string>

#include "bench/dataplane/forward.h"
#include "bench/dataplane/rig.h"
#include "bench/dataplane/stages.h"
#include "proxy/table.h"

namespace matchrdma::dataplane_bench {

struct Point {
  RigOptions o;
  Turns t;
};

class Report {
 public:
  explicit Report(double tsc_hz) : hz_(tsc_hz) {}

  void add(const Point& p);
  void add(const TrafficOptions& o, const Stages& s);
  void add(const Forwarded& f);
  void add_ack(double cycles);
  /// `load`: share of what each proxy can do.
  void add(double load, const Delays& d);
  void print(std::ostream& out) const;
  bool missed() const { return missed_; }
  const nlohmann::ordered_json& json() const { return json_; }

 private:
  void add_role(const Point& p, const char* role, double cycles);
  void add_delays(double load, const char* what, const std::vector<double>& ns);
  void aim(const std::string& what, double is, double wanted, bool at_most);

  using Align = Table::Align;
  double hz_;
  Table roles_{{{"role"},
                {"payload", Align::kRight},
                {"flows", Align::kRight},
                {"ICRC", Align::kRight},
                {"Mpackets/s", Align::kRight},
                {"Gb/s", Align::kRight},
                {"cycles", Align::kRight},
                {"sum", Align::kRight},
                {"ratio", Align::kRight},
                {"port", Align::kRight},
                {"lookup", Align::kRight},
                {"CRC", Align::kRight},
                {"retain", Align::kRight},
                {"ACKs", Align::kRight},
                {"owned", Align::kRight},
                {"datagrams/1000", Align::kRight}}};
  Table stages_{{{"payload", Align::kRight},
                 {"flows", Align::kRight},
                 {"parse", Align::kRight},
                 {"key and flow", Align::kRight},
                 {"ICRC", Align::kRight}}};
  Table forward_{{{"frame", Align::kRight},
                  {"worker Mpackets/s", Align::kRight},
                  {"testpmd io", Align::kRight},
                  {"testpmd csum", Align::kRight},
                  {"worker / io", Align::kRight}}};
  Table delays_{{{"load", Align::kRight},
                 {"added by"},
                 {"p50 us", Align::kRight},
                 {"p99 us", Align::kRight},
                 {"p99.9 us", Align::kRight},
                 {"above 20 us", Align::kRight}}};
  Table aims_{{{"aim"}, {"is", Align::kRight}, {"wanted", Align::kRight}, {"holds"}}};
  nlohmann::ordered_json json_ = nlohmann::ordered_json::array();
  bool missed_ = false;
};

}  // namespace matchrdma::dataplane_bench
