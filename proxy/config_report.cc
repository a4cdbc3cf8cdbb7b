#include "proxy/config_report.h"

#include <ostream>

#include "config/print.h"
#include "proxy/table.h"

namespace matchrdma {
namespace {

using nlohmann::ordered_json;

std::string place(const ConfigError& e) {
  return e.line == 0 ? e.file : e.file + ":" + std::to_string(e.line) + ":" + std::to_string(e.column);
}

ordered_json list(const std::vector<ConfigError>& complaints) {
  ordered_json j = ordered_json::array();
  for (const ConfigError& e : complaints)
    j.push_back({{"line", e.line}, {"column", e.column}, {"key", e.key}, {"value", e.value}, {"text", e.text}});
  return j;
}

ordered_json to_json(const Shown& s) {
  if (s.kind == Shown::Kind::kNothing) return nullptr;
  if (s.kind == Shown::Kind::kScalar) return s.text;
  ordered_json j = s.kind == Shown::Kind::kList ? ordered_json::array() : ordered_json::object();
  for (const Shown::Entry& e : s.entries)
    if (s.kind == Shown::Kind::kList)
      j.push_back(to_json(e.value));
    else if (e.value.kind != Shown::Kind::kNothing)
      j[e.key] = to_json(e.value);
  return j;
}

}  // namespace

void print_complaints(std::ostream& out, const ConfigResult& r) {
  Table table({{"", Table::Align::kLeft},
               {"where", Table::Align::kLeft},
               {"key", Table::Align::kLeft},
               {"value", Table::Align::kLeft},
               {"what to do", Table::Align::kLeft}});
  for (const ConfigError& e : r.errors) table.add({"error", place(e), e.key, e.value, e.text});
  for (const ConfigError& w : r.warnings) table.add({"warning", place(w), w.key, w.value, w.text});
  if (!table.empty()) table.print(out, 0);
}

ordered_json complaints_json(const std::string& file, const ConfigResult& r) {
  return {{"file", file}, {"ok", r.ok()}, {"errors", list(r.errors)}, {"warnings", list(r.warnings)}};
}

ordered_json config_json(const Config& c) { return to_json(show_config(c)); }

}  // namespace matchrdma
