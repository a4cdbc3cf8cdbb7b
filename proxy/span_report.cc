#include "proxy/span_report.h"

#include <cstdio>
#include <ostream>

#include "proxy/table.h"

namespace matchrdma {
namespace {

double late_mean_ns(const SpanDirectionStats& s) {
  const uint64_t frames = s.frames_out + s.not_sent;
  return frames == 0 ? 0 : static_cast<double>(s.late_sum_ns) / static_cast<double>(frames);
}

nlohmann::ordered_json direction_json(const SpanLink& link, size_t d) {
  const SpanDirectionStats& s = link.stats(d);
  const model::SpanStats& m = link.model_stats(d);
  nlohmann::ordered_json j;
  j["frames_in"] = s.frames_in;
  j["bytes_in"] = s.bytes_in;
  j["frames_out"] = s.frames_out;
  j["on_the_way"] = link.on_the_way(d);
  j["lost"] = m.lost;
  j["cut"] = m.cut;
  j["duplicated"] = m.duplicated;
  j["reordered"] = m.reordered;
  j["queue_drops"] = m.tail_drops;
  j["overflow"] = s.overflow;
  j["not_sent"] = s.not_sent;
  j["late_mean_s"] = late_mean_ns(s) / 1e9;
  j["late_most_s"] = static_cast<double>(s.late_most_ns) / 1e9;
  return j;
}

nlohmann::ordered_json port_json(const io::Port& port) {
  const io::PortStats s = port.stats();
  const io::QueueStats& q = port.queue_stats(0);
  nlohmann::ordered_json j;
  j["name"] = port.name();
  j["driver"] = port.abilities().driver;
  j["mtu"] = port.mtu();
  j["link_up"] = port.link().up;
  j["rx_missed"] = s.rx_missed;
  j["rx_no_memory"] = s.rx_no_memory;
  j["rx_too_long"] = q.rx_chained + q.rx_cut_off;
  j["tx_full"] = q.tx_full;
  j["tx_link_down"] = q.tx_link_down;
  j["tx_too_long"] = q.tx_too_long;
  return j;
}

}  // namespace

nlohmann::ordered_json span_json(const SpanLink& link, const io::Port& a, const io::Port& b,
                                 const SpanUse& use) {
  nlohmann::ordered_json j;
  j["seconds"] = use.seconds;
  j["cpu_seconds"] = use.cpu_seconds;
  j["sleeps"] = use.sleeps;
  j["dark"] = link.dark();
  j["most_on_the_way"] = link.most_on_the_way();
  j["settings"] = settings_json(link.settings());
  j["a_to_b"] = direction_json(link, 0);
  j["b_to_a"] = direction_json(link, 1);
  j["port_a"] = port_json(a);
  j["port_b"] = port_json(b);
  return j;
}

void print_span(std::ostream& out, const SpanLink& link, const SpanUse& use) {
  Table table({{"", Table::Align::kLeft}, {"a to b", Table::Align::kRight}, {"b to a", Table::Align::kRight}});
  const auto row = [&](const char* what, auto&& value) { table.add({what, value(0), value(1)}); };
  row("frames in", [&](size_t d) { return thousands(link.stats(d).frames_in); });
  row("bytes in", [&](size_t d) { return thousands(link.stats(d).bytes_in); });
  row("frames out", [&](size_t d) { return thousands(link.stats(d).frames_out); });
  row("lost by chance", [&](size_t d) { return thousands(link.model_stats(d).lost); });
  row("lost by cuts", [&](size_t d) { return thousands(link.model_stats(d).cut); });
  row("doubled", [&](size_t d) { return thousands(link.model_stats(d).duplicated); });
  row("reordered", [&](size_t d) { return thousands(link.model_stats(d).reordered); });
  row("dropped: queue of the rate full", [&](size_t d) { return thousands(link.model_stats(d).tail_drops); });
  row("dropped: out of memory", [&](size_t d) { return thousands(link.stats(d).overflow); });
  row("dropped at the far port", [&](size_t d) { return thousands(link.stats(d).not_sent); });
  row("late, mean", [&](size_t d) { return duration_text(static_cast<int64_t>(late_mean_ns(link.stats(d)))); });
  row("late, most", [&](size_t d) { return duration_text(link.stats(d).late_most_ns); });
  table.print(out);
  char text[128];
  std::snprintf(text, sizeof text, "  %.1f s, %.2f s of CPU time (%.3f cores), %llu sleeps\n", use.seconds,
                use.cpu_seconds, use.seconds > 0 ? use.cpu_seconds / use.seconds : 0,
                static_cast<unsigned long long>(use.sleeps));
  out << text;
}

std::string span_status(const SpanLink& link) {
  uint64_t frames = 0, lost = 0, on_the_way = 0, drops = 0;
  for (size_t d = 0; d < 2; ++d) {
    frames += link.stats(d).frames_out;
    lost += link.model_stats(d).lost + link.model_stats(d).cut;
    on_the_way += link.on_the_way(d);
    drops += link.stats(d).overflow + link.stats(d).not_sent + link.model_stats(d).tail_drops;
  }
  return std::string(link.dark() ? "cut" : "up") + ", " + thousands(frames) + " frames, " +
         thousands(on_the_way) + " on the way, " + thousands(lost) + " lost, " + thousands(drops) + " dropped";
}

}  // namespace matchrdma
