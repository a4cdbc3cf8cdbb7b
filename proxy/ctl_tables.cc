#include "proxy/ctl_tables.h"

#include <array>
#include <cstdio>
#include <functional>
#include <ostream>
#include <vector>

#include "proxy/table.h"

namespace matchrdma {
namespace {

using Json = nlohmann::ordered_json;
using Align = Table::Align;
constexpr size_t kNewestSlots = 24;

using Cell = std::function<std::string(const Json& row)>;

struct Column {
  const char* heading;
  Cell cell;
  Align align = Align::kLeft;
};

std::string number_text(const Json& j) { return j.is_number_unsigned() ? thousands(j.get<uint64_t>()) : "-"; }

std::string bytes_text(const Json& j) { return j.is_number() ? volume_text(j.get<double>()) : "-"; }

std::string rate_text(const Json& j) {
  if (!j.is_number()) return "-";
  std::array<char, 48> text{};
  const double v = j.get<double>();
  const bool giga = v >= 1e9;
  std::snprintf(text.data(), text.size(), "%.3g %s", giga ? v / 1e9 : v / 1e6, giga ? "Gbps" : "Mbps");
  return text.data();
}

std::string time_text(const Json& j) { return j.is_number() ? duration_text(j.get<int64_t>()) : "-"; }

std::string plain_text(const Json& j) {
  if (j.is_string()) return j.get<std::string>();
  if (j.is_boolean()) return j.get<bool>() ? "yes" : "no";
  return j.is_null() ? "-" : j.dump();
}

Json member(const Json& row, const char* key) { return row.contains(key) ? row[key] : Json(); }

Column text(const char* heading, const char* key) {
  return {heading, [key](const Json& r) { return plain_text(member(r, key)); }};
}
Column right(const char* heading, const char* key, std::string (*form)(const Json&)) {
  return {heading, [key, form](const Json& r) { return form(member(r, key)); }, Align::kRight};
}
Column number(const char* heading, const char* key) { return right(heading, key, number_text); }
Column plain(const char* heading, const char* key) { return right(heading, key, plain_text); }
Column bytes(const char* heading, const char* key) { return right(heading, key, bytes_text); }
Column time(const char* heading, const char* key) { return right(heading, key, time_text); }

void print_rows(const Json& rows, const std::vector<Column>& columns, std::ostream& out) {
  std::vector<Table::Column> headings;
  for (const Column& c : columns) headings.push_back({c.heading, c.align});
  Table table(std::move(headings));
  for (const Json& row : rows) {
    std::vector<std::string> cells;
    for (const Column& c : columns) cells.push_back(c.cell(row));
    table.add(std::move(cells));
  }
  if (table.empty()) {
    out << "  (none)\n";
  } else {
    table.print(out, 0);
  }
}

std::string busy_text(const Json& w) {
  const double busy = member(w, "busy_cycles").is_number() ? w["busy_cycles"].get<double>() : 0;
  const double idle = member(w, "idle_cycles").is_number() ? w["idle_cycles"].get<double>() : 0;
  if (busy + idle <= 0) return "-";
  std::array<char, 32> s{};
  std::snprintf(s.data(), s.size(), "%.1f %%", 100 * busy / (busy + idle));
  return s.data();
}

std::string vlan_text(const Json& r) {
  const Json outer = member(r, "vlan"), inner = member(r, "inner_vlan");
  if (outer == 0) return "-";
  return outer.dump() + (inner == 0 ? "" : "," + inner.dump());
}

const std::vector<Column>& flow_columns() {
  static const std::vector<Column> kColumns{text("source", "src"),
                                            plain("QP", "src_qpn"),
                                            text("destination", "dst"),
                                            plain("QP", "dst_qpn"),
                                            Column{"VLAN", vlan_text, Align::kLeft},
                                            text("role", "role"),
                                            text("state", "state"),
                                            text("learned by", "learned_by"),
                                            number("owned", "owned_packets"),
                                            number("behind gap", "behind_gap"),
                                            text("span", "span"),
                                            plain("worker", "worker")};
  return kColumns;
}

const std::vector<Column>& unpaired_columns() {
  static const std::vector<Column> kColumns{text("source", "src"),  text("destination", "dst"),
                                            plain("QP", "dst_qpn"), Column{"VLAN", vlan_text, Align::kLeft},
                                            text("span", "span"),   plain("worker", "worker"),
                                            text("why", "why")};
  return kColumns;
}

const std::vector<Column>& columns_of(const std::string& what) {
  static const std::vector<Column> kPeers{text("span", "span"),
                                          text("address", "address"),
                                          text("session", "session"),
                                          plain("key", "key_id"),
                                          time("RTT", "rtt_ns"),
                                          time("last heard", "last_heard_ns"),
                                          plain("version", "peer_version"),
                                          text("trouble", "trouble")};
  static const std::vector<Column> kBudgets{text("span", "span"),
                                            text("receiver", "receiver"),
                                            Column{"VLAN", vlan_text, Align::kLeft},
                                            right("rate", "rate_bps", rate_text),
                                            text("by peer", "from_peer"),
                                            text("expired", "expired"),
                                            bytes("backlog", "backlog_bytes"),
                                            bytes("admitted", "admitted_bytes"),
                                            plain("worker", "worker")};
  static const std::vector<Column> kCustody{plain("worker", "worker"),
                                            bytes("owned", "bytes"),
                                            number("packets", "owned_packets"),
                                            bytes("peak", "peak_bytes"),
                                            bytes("in gate", "gate_bytes"),
                                            bytes("held", "held_bytes"),
                                            time("oldest", "oldest_ns"),
                                            bytes("soft limit", "soft_limit_bytes"),
                                            bytes("hard limit", "hard_limit_bytes")};
  static const std::vector<Column> kPorts{text("port", "name"),
                                          text("span", "span"),
                                          text("side", "side"),
                                          text("kind", "kind"),
                                          text("link", "link_up"),
                                          text("MAC", "mac"),
                                          plain("MTU", "mtu"),
                                          text("dispatch", "dispatch"),
                                          number("rx packets", "rx_packets"),
                                          bytes("rx", "rx_bytes"),
                                          number("missed", "rx_missed"),
                                          number("errors", "rx_errors"),
                                          number("tx packets", "tx_packets"),
                                          bytes("tx", "tx_bytes")};
  static const std::vector<Column> kWorkers{plain("worker", "worker"),
                                            plain("core", "core"),
                                            Column{"busy", busy_text, Align::kRight},
                                            number("rx packets", "rx_packets"),
                                            number("tx packets", "tx_packets"),
                                            number("tx drops", "tx_drops"),
                                            number("handed over", "handed_over"),
                                            number("flows", "flows"),
                                            number("free buffers", "pool_free"),
                                            number("buffers", "pool_buffers")};
  static const std::vector<Column> kSlots{text("span", "span"),
                                          text("receiver", "receiver"),
                                          plain("slot", "slot"),
                                          right("arrived", "arrived_bps", rate_text),
                                          right("acked", "acked_bps", rate_text),
                                          text("saturated", "saturated"),
                                          text("level", "level"),
                                          text("window", "window"),
                                          right("capacity", "capacity_bps", rate_text),
                                          right("forecast", "forecast_bps", rate_text),
                                          bytes("queue", "queue_bytes"),
                                          bytes("in 2D", "projected_queue_bytes"),
                                          right("budget", "budget_bps", rate_text),
                                          plain("governs", "governs")};
  if (what == "flows") return flow_columns();
  if (what == "unpaired") return unpaired_columns();
  if (what == "peers") return kPeers;
  if (what == "budgets") return kBudgets;
  if (what == "slots") return kSlots;
  if (what == "custody") return kCustody;
  return what == "ports" ? kPorts : kWorkers;
}

void print_status(const Json& s, std::ostream& out) {
  Table t({{""}, {""}});
  t.add({"version", plain_text(member(s, "version"))});
  t.add({"up for", time_text(member(s, "uptime_ns"))});
  t.add({"ready", plain_text(member(s, "ready"))});
  t.add({"drain", plain_text(member(s, "drain"))});
  t.add({"reloads",
         number_text(member(s, "reloads")) + ", refused " + number_text(member(s, "reloads_refused"))});
  t.print(out, 0);
  out << '\n';
  print_rows(member(s, "conditions"), {text("condition", "name"), text("holds", "holds"), text("", "text")},
             out);
}

}  // namespace

void print_view(const std::string& what, const Json& result, std::ostream& out) {
  if (what == "status") {
    print_status(result, out);
  } else if (what == "config") {
    out << plain_text(member(result, "config"));
  } else {
    Json rows = member(result, what.c_str());
    // A screen of them; --json has all.
    if (what == "slots" && rows.size() > kNewestSlots)
      rows.erase(rows.begin(), rows.end() - static_cast<std::ptrdiff_t>(kNewestSlots));
    print_rows(rows, columns_of(what), out);
    const Json matching = member(result, "matching");
    if (matching.is_number_unsigned() && matching.get<uint64_t>() > rows.size()) {
      out << "  ... of " << number_text(matching) << '\n';
    }
  }
}

}  // namespace matchrdma
