#include "proxy/slots_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "config/words.h"
#include "controlplane/service/slot_json.h"
#include "dataplane/base/ip_text.h"
#include "proxy/output_files.h"
#include "proxy/replay_report.h"

namespace matchrdma {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostBytes = size_t{2} << 30;
constexpr double kExact = 9007199254740992;  // 2^53: whole numbers up to here are exact in every JSON reader
constexpr const char* kRemedy =
    "; give a file of `matchrdma replay --slots` or `matchrdma ctl --json show slots`";

/// Takes the members of one row; keeps the first complaint.
class RowReader {
 public:
  explicit RowReader(const Json& row) : row_(row) {}

  double number(const char* key, double least, double most) {
    const Json* j = member(key);
    if (j == nullptr) return least;
    const double v = j->is_number() ? j->get<double>() : NAN;
    if (v >= least && v <= most) return v;
    char range[64];
    std::snprintf(range, sizeof range, "a number from %.0f to %.0f", least, most);
    wrong(key, *j, range);
    return least;
  }
  int64_t whole(const char* key, int64_t least, int64_t most) {
    const double v = number(key, static_cast<double>(least), static_cast<double>(most));
    if (v != std::floor(v)) wrong(key, row_[key], "a whole number");
    return static_cast<int64_t>(v);
  }
  bool flag(const char* key) {
    const Json* j = member(key);
    if (j == nullptr) return false;
    if (!j->is_boolean()) wrong(key, *j, "true or false");
    return j->is_boolean() && j->get<bool>();
  }
  std::string text(const char* key) {
    const Json* j = member(key);
    if (j == nullptr) return "";
    if (!j->is_string()) wrong(key, *j, "a text");
    return j->is_string() ? j->get<std::string>() : "";
  }
  /// Position of the text in `words`.
  template <size_t N>
  size_t word(const char* key, const std::array<const char*, N>& words) {
    const std::string t = text(key);
    for (size_t i = 0; i < N; ++i)
      if (t == words[i]) return i;
    wrong(key, t, "one of " + listed(words));
    return 0;
  }
  void wrong(const char* key, const Json& value, const std::string& wanted) {
    if (!complaint_.empty()) return;
    constexpr size_t kShown = 60;
    std::string shown = value.is_structured() ? "a list or object" : value.dump(-1, ' ', true);
    if (shown.size() > kShown) shown = shown.substr(0, kShown) + "...";
    complaint_ = std::string(key) + ": " + shown + " is not " + wanted;
  }
  const std::string& complaint() const { return complaint_; }

 private:
  const Json* member(const char* key) {
    const auto it = row_.find(key);
    if (it != row_.end()) return &*it;
    if (complaint_.empty()) complaint_ = std::string(key) + ": is missing";
    return nullptr;
  }
  const Json& row_;
  std::string complaint_;
};

/// Duty: gathers rows into series. Does not know where they come from.
class SeriesReader {
 public:
  /// The complaint; empty: none.
  std::string add(const Json& row) {
    if (!row.is_object()) return "is not an object";
    RowReader r(row);
    const std::string span = r.text("span"), receiver = r.text("receiver");
    const auto vlan = static_cast<uint64_t>(r.whole("vlan", 0, 4095));
    const auto inner = static_cast<uint64_t>(r.whole("inner_vlan", 0, 4095));
    const Duration slot{r.whole("slot_ns", 1, 3'600'000'000'000)};
    const SlotPoint p = point(r);
    if (!r.complaint().empty()) return r.complaint();
    if (!ip_from_text(receiver)) {
      r.wrong("receiver", receiver, "an IP address");
      return r.complaint();
    }
    auto [at, fresh] = series_.try_emplace({span, receiver, vlan, inner});
    SlotSeries& s = at->second;
    if (fresh) s = {span, receiver, vlan, inner, slot, {}};
    if (s.slot != slot) return "slot_ns: differs from that of this receiver before; give each its own file";
    s.points.push_back(p);
    return "";
  }
  std::vector<SlotSeries> take() {
    std::vector<SlotSeries> all;
    for (auto& [key, s] : series_) {
      std::stable_sort(s.points.begin(), s.points.end(),
                       [](const SlotPoint& a, const SlotPoint& b) { return a.slot < b.slot; });
      // Of rows that are there twice (two prints of `ctl` joined) the later one counts.
      std::vector<SlotPoint> once;
      for (const SlotPoint& p : s.points) {
        if (!once.empty() && once.back().slot == p.slot) once.pop_back();
        once.push_back(p);
      }
      s.points = std::move(once);
      all.push_back(std::move(s));
    }
    return all;
  }

 private:
  static SlotPoint point(RowReader& r) {
    SlotPoint p;
    const auto gbps = [&r](const char* key) { return r.number(key, 0, kExact) / 1e9; };
    p.slot = r.whole("slot", 0, int64_t{1} << 53);
    p.governs = r.whole("governs", p.slot, p.slot + kMaxHorizon);
    p.arrived = gbps("arrived_bps");
    p.acked = gbps("acked_bps");
    p.capacity = gbps("capacity_bps");
    p.forecast = gbps("forecast_bps");
    p.budget = gbps("budget_bps");
    p.backlog = r.number("backlog_bytes", 0, kExact);
    p.queue = r.number("queue_bytes", 0, kExact);
    p.projected = r.number("projected_queue_bytes", 0, kExact);
    p.period = r.number("period_slots", 0, kExact);
    p.saturated = r.flag("saturated");
    p.level = static_cast<CongestionLevel>(r.word("level", service::kLevelKeys));
    p.window = static_cast<WindowKind>(r.word("window", service::kWindowKeys));
    return p;
  }
  using Key = std::tuple<std::string, std::string, uint64_t, uint64_t>;
  std::map<Key, SlotSeries> series_;
};

}  // namespace

Result<std::vector<SlotSeries>> parse_slots(std::string_view text, const std::string& name) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return Error{name + ": is empty" + kRemedy};
  SeriesReader reader;
  std::string complaint;
  size_t rows = 0;
  bool in_slots = false;
  // A row is taken when it is complete and left out of the document, which would be many times the text.
  const auto take = [&](int depth, Json::parse_event_t event, Json& j) {
    if (depth == 1 && event == Json::parse_event_t::key) in_slots = j == "slots";
    if (depth != 2 || event != Json::parse_event_t::object_end || !in_slots) return true;
    if (complaint.empty())
      if (const std::string c = reader.add(j); !c.empty())
        complaint = "slots[" + std::to_string(rows) + "]." + c;
    ++rows;
    return false;
  };
  Json rest;
  // The parser reports by exceptions alone where it stopped.
  try {
    rest = Json::parse(text, take);
  } catch (const Json::parse_error& e) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(e.byte, text.size()));
    const auto line = 1 + std::count(text.begin(), end, '\n');
    return Error{name + ":" + std::to_string(line) + ": is not JSON, or cut off, at byte " +
                 std::to_string(e.byte) + kRemedy};
  } catch (const Json::exception&) {
    return Error{name + ": holds a number that no field can have" + kRemedy};
  }
  if (!rest.is_object() || !rest.contains("slots") || !rest["slots"].is_array())
    return Error{name + ": holds no list \"slots\"" + kRemedy};
  if (!rest["slots"].empty()) return Error{name + ": a member of \"slots\" is not an object" + kRemedy};
  if (!complaint.empty()) return Error{name + ": " + complaint + kRemedy};
  if (rows == 0)
    return Error{name +
                 ": holds no slot: no receiver was busy, or nothing makes budgets (estimator fixed); record it "
                 "while there is traffic"};
  return reader.take();
}

Result<std::vector<SlotSeries>> read_slots(const std::string& path) {
  const std::string name = path == "-" ? "(stdin)" : path;
  std::error_code e;
  if (std::filesystem::is_directory(path, e)) return Error{name + ": is a folder" + kRemedy};
  std::ifstream file;
  if (path != "-") {
    file.open(path, std::ios::binary);
    if (!file) return Error{name + ": cannot be opened: " + std::strerror(errno) + "; check name and rights"};
  }
  std::istream& in = path == "-" ? std::cin : file;
  std::string text;
  std::vector<char> piece(1 << 20);
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())) || in.gcount() > 0) {
    text.append(piece.data(), static_cast<size_t>(in.gcount()));
    if (text.size() > kMostBytes)
      return Error{name + ": is larger than 2 GiB, which is no record of slots; record less, or cut it"};
  }
  if (in.bad()) return Error{name + ": cannot be read: " + std::strerror(errno)};
  return parse_slots(text, name);
}

Result<void> write_slots(const EstimatorSettings& settings, const std::vector<ReplaySlot>& slots,
                         const std::string& path) {
  return write_file(path, [&](std::ostream& out) {
    out << "{\"slots\":[";
    const char* between = "\n";
    for (const ReplaySlot& s : slots) {
      out << between << service::slot_json(site_letter(s.site), settings.slot, {s.group, s.slot});
      between = ",\n";
    }
    out << "\n]}\n";
  });
}

}  // namespace matchrdma
