// Sentences of the report that need some thought.
#include <algorithm>
#include <cstdio>

#include "proxy/replay_report.h"
#include "proxy/table.h"

namespace matchrdma {
namespace {

std::string number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", v);
  return text;
}

std::string requests(uint64_t n) { return thousands(n) + (n == 1 ? " request" : " requests"); }

// A recording goes on where a sender would stop and send again: not all that is missing is a fault of the
// proxies.
std::string lost_text(const ReplayResult& r) {
  const uint64_t lost = r.delivery.lost;
  uint64_t rest = lost;
  const auto take = [&rest](uint64_t n) {
    n = std::min(n, rest);
    rest -= n;
    return n;
  };
  const auto counted = [&r](Reason why) { return r.proxy[0].reasons[why] + r.proxy[1].reasons[why]; };
  const uint64_t span = take(r.delivery.gone_on_span);
  const uint64_t behind = take(r.behind_gap + counted(Reason::kLanGapFull));
  const uint64_t closing = take(counted(Reason::kClosing));
  std::string text = "No gain: " + requests(lost) + (lost == 1 ? " was" : " were") + " not delivered";
  std::string parts;
  const auto part = [&parts](uint64_t n, const char* what) {
    if (n != 0) parts += (parts.empty() ? ": " : ", ") + thousands(n) + " " + what;
  };
  part(span, "lost by the span before a proxy answered for them");
  part(behind, "behind one that never came");
  part(closing, "of a queue pair used anew, more than is kept until its old life has ended");
  part(rest, "not forwarded by the proxies (see the reasons above)");
  return text + parts + "." +
         (rest != lost ? " A real sender sends such requests again, a recording cannot." : "");
}

}  // namespace

std::string nothing_text(const ReplayResult& r) {
  const TraceCounts& t = r.trace;
  if (t.roce != 0) return {};
  std::string text = t.file + ": ";
  if (t.packets == 0) return text + "holds no packet, so there is nothing to replay.";
  text +=
      "holds no RoCEv2 packet among its " + thousands(t.packets) + (t.packets == 1 ? " packet" : " packets");
  if (t.truncated == 0) return text + ", so there is nothing to replay.";
  return text + "; " + thousands(t.truncated) +
         " are cut short by the capture. Capture whole packets (tcpdump -s 0) and replay again.";
}

SourceQp source_qp(const ReplayResult& r, size_t stream) {
  const TraceStream& s = r.streams[stream];
  if (s.source_qpn) return {s.source_qpn, true};
  if (r.learned[stream].sender_qpn) return {r.learned[stream].sender_qpn, true};
  if (s.partner < 0) return {};
  return {r.streams[static_cast<size_t>(s.partner)].key.dst_qpn, false};
}

std::string evidence_text(const ReplayResult& r, size_t stream) {
  const std::string& by = r.learned[stream].by;
  if (by == "correlation") return "answers in step with its requests";
  if (by == "cm") return "CM handshake";
  if (by == "peer") return "told by the other proxy";
  return r.streams[stream].evidence;
}

std::string replay_gain(const ReplayOptions& o, const ReplayResult& r) {
  if (r.delivery.broken()) return {};  // what breaks its promises gains nothing
  if (r.with_proxy.samples == 0 || r.without_proxy.samples == 0) return {};
  if (r.delivery.lost != 0) return lost_text(r);
  if (const uint64_t failed = r.proxy[0].faults + r.proxy[1].faults; failed != 0)
    return "No gain: " + thousands(failed) + (failed == 1 ? " queue pair" : " queue pairs") + " failed.";
  if (r.with_proxy.p50 >= r.without_proxy.p50) return {};
  // Virtual time knows no processing: what a proxy answers at once takes less than a microsecond.
  constexpr int64_t kAtOnce = 1000;
  const int64_t with = std::max(kAtOnce, r.with_proxy.p50);
  const std::string waits = with == kAtOnce ? "less than 1 us" : duration_text(with);
  const bool worse = r.with_proxy.p99 > r.without_proxy.p99 + r.without_proxy.p99 / 10;
  return "Gain: at " + number(o.distance_km) + " km a sender waits " + waits +
         " for the ACK of a message instead of " + duration_text(r.without_proxy.p50) + " (median" +
         (worse ? "; the slowest in a hundred " + duration_text(r.with_proxy.p99) + " instead of " +
                      duration_text(r.without_proxy.p99)
                : "") +
         "), and every byte arrived" + (r.delivery.bytes_identical ? " unchanged." : ", BUT NOT UNCHANGED.");
}

}  // namespace matchrdma
