#include "proxy/xfer_live_report.h"

#include <algorithm>
#include <ostream>

#include "proxy/json_output.h"
#include "proxy/table.h"
#include "proxy/xfer_options.h"

namespace matchrdma {

double live_bits_per_second(const LiveRow& row) {
  return static_cast<double>(row.bytes) * 8e9 / static_cast<double>(std::max<uint64_t>(row.sender.took, 1));
}

void print_live(const std::vector<LiveRow>& rows, std::ostream& out) {
  Table t({{"scheme", Table::Align::kLeft},
           {"time", Table::Align::kRight},
           {"Mb/s", Table::Align::kRight},
           {"packets", Table::Align::kRight},
           {"resent", Table::Align::kRight},
           {"decoded", Table::Align::kRight},
           {"duplicates", Table::Align::kRight},
           {"missing bytes", Table::Align::kRight},
           {"round trip", Table::Align::kRight},
           {"bytes", Table::Align::kLeft}});
  for (const LiveRow& r : rows)
    t.add({scheme_name(r.settings.scheme), duration_text(static_cast<int64_t>(r.sender.took)),
           decimal(live_bits_per_second(r) / 1e6, 1), thousands(r.sender.packets), thousands(r.sender.resent),
           thousands(r.receiver.decoded), thousands(r.receiver.duplicates), thousands(r.receiver.missing_bytes),
           duration_text(static_cast<int64_t>(r.sender.round_trip)),
           r.same()              ? "right"
           : r.settings.hadamard ? "rounded"
           : r.as_told()         ? "as told"
                                 : "WRONG"});
  for (const LiveRow& r : rows)
    if (!r.note.empty()) out << r.note << "\n";
  if (!rows.empty())
    out << thousands(rows[0].bytes) << " bytes, SHA-256 " << digest_text(rows[0].sender.sha256) << "\n\n";
  t.print(out);
}

Result<void> write_live_json(const std::vector<LiveRow>& rows, const std::string& device,
                             const std::string& path) {
  nlohmann::ordered_json all = {{"device", device}, {"transfers", nlohmann::ordered_json::array()}};
  for (const LiveRow& r : rows) {
    all["transfers"].push_back({{"scheme", scheme_name(r.settings.scheme)},
                                {"bytes", r.bytes},
                                {"tier", r.settings.copy ? "c" : "a"},
                                {"path_mtu", r.settings.path_mtu},
                                {"message_bytes", r.settings.message_bytes},
                                {"granted_messages", r.settings.messages_ahead + 1},
                                {"time_ns", r.sender.took},
                                {"bits_per_second", live_bits_per_second(r)},
                                {"round_trip_ns", r.sender.round_trip},
                                {"packets", r.sender.packets},
                                {"resent", r.sender.resent},
                                {"rate_halved", r.sender.rate_halved},
                                {"decoded", r.receiver.decoded},
                                {"duplicates", r.receiver.duplicates},
                                {"stale", r.receiver.stale},
                                {"receive_queue_low", r.receiver.rq_low},
                                {"missing_bytes", r.receiver.missing_bytes},
                                {"sha256_sent", digest_text(r.sender.sha256)},
                                {"sha256_received", digest_text(r.receiver.sha256)},
                                {"same", r.same()}});
    if (!r.note.empty()) all["transfers"].back()["note"] = r.note;
    if (r.settings.scheme == host::XferScheme::kCells) all["transfers"].back()["paths"] = r.settings.paths;
    if (!r.news.empty()) all["transfers"].back()["news"] = r.news;
    if (r.settings.hadamard) all["transfers"].back()["transform"] = element_name(*r.settings.hadamard);
  }
  return write_json(all, path);
}

bool any_wrong(const std::vector<LiveRow>& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const LiveRow& r) { return !r.same() && !r.as_told(); });
}

}  // namespace matchrdma
