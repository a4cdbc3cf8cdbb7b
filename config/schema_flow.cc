// limits, timing and tuning: the fields of dataplane/flow/limits.h under their own names (bytes without
// `_bytes`).
#include "config/schema.h"

namespace matchrdma {
namespace {

constexpr uint64_t kMiB = 1ull << 20, kGiB = 1ull << 30;
const auto kRestart = Apply::kRestart;
const auto kReload = Apply::kReload;

Kind<uint64_t> memory_bytes() { return bytes_between(kMiB, 1024 * kGiB); }
Kind<uint32_t> entries(uint64_t most = 1ull << 28) { return whole<uint32_t>(1, most); }

Kind<CorrelationLimits> correlation_section() {
  using C = CorrelationLimits;
  return section<C>({
      key<C>("host_pairs", &C::host_pairs, entries(1 << 20), kRestart,
             "directions between two hosts in which flows are watched"),
      key<C>("streams", &C::streams, entries(1 << 20), kRestart,
             "watched at one time, of requests and of answers each: 1.1 KiB and 0.2 KiB"),
      key<C>("idle", &C::idle, time_between(Duration::millis(100), Duration::seconds(3600)), kRestart,
             "after that a stream is forgotten"),
  });
}

/// A time from a microsecond to `most`.
Kind<Duration> up_to(Duration most) { return time_between(Duration::micros(1), most); }

}  // namespace

Kind<Limits> limits_section() {
  using L = Limits;
  return section<L>({
      key<L>("max_flows", &L::max_flows, entries(), kRestart, "flow records, two for each QP pair"),
      key<L>("max_owning_flows", &L::max_owning_flows, entries(), kRestart,
             "flows that may hold packets at one time, per role"),
      key<L>("custody_soft", &L::custody_soft_bytes, memory_bytes(), kRestart,
             "custody above which CNPs go out at full rate and hold_max releases nothing; its share of "
             "custody_hard holds "
             "for custody_packets too"),
      key<L>("custody_hard", &L::custody_hard_bytes, memory_bytes(), kRestart,
             "custody above which only the reserve of a flow is accepted"),
      key<L>("reserve_per_flow", &L::reserve_bytes_per_flow, bytes_between(0, kGiB), kRestart,
             "what a flow that owns packets may keep above the hard limit"),
      key<L>("reorder_memory", &L::reorder_memory, memory_bytes(), kRestart,
             "packets kept behind a hole of the span; rate x RTT for each loss"),
      key<L>("custody_packets", &L::custody_packets, entries(), kRestart,
             "window entries of all flows, 64 B each"),
      key<L>("held_packets", &L::held_packets, entries(), kRestart, "entries of the destination, all flows"),
      key<L>("confirmed_entries", &L::confirmed_entries, entries(), kRestart,
             "remembered confirmed packets of all flows, 16 B each"),
      key<L>("confirmed_per_flow", &L::confirmed_per_flow, entries(1 << 20), kRestart,
             "of these, for one flow"),
      key<L>("lan_gap_packets", &L::lan_gap_packets, entries(1 << 20), kRestart,
             "kept behind a gap of the LAN, per flow"),
      key<L>("read_ranges", &L::read_ranges, entries(1 << 20), kRestart,
             "outstanding and remembered READ-class requests, per flow"),
      key<L>("max_psn_window", &L::max_psn_window, whole<int64_t>(1024, 1 << 22), kRestart,
             "PSNs between the oldest owned packet and the newest (H18)"),
      key<L>("max_groups", &L::max_groups, entries(1 << 20), kRestart,
             "receivers that have or had a budget; flows to more of them are not proxied"),
      key<L>("correlation", &L::correlation, correlation_section(), kRestart,
             "bounds of the correlation learner"),
  });
}

Kind<Timing> timing_section() {
  using T = Timing;
  const Duration second = Duration::seconds(1), hour = Duration::seconds(3600);
  return section<T>({
      key<T>("lan_reorder_wait", &T::lan_reorder_wait, time_between(Duration{}, second), kReload,
             "how long a gap of the LAN may close by itself before it is told"),
      key<T>("hold_max", &T::hold_max, up_to(second), kReload,
             "a packet that waited so long for its budget is acknowledged all the same (H3)"),
      key<T>("reorder_window", &T::reorder_window, time_between(Duration{}, second), kReload,
             "how much the span may reorder (H2)"),
      key<T>("custody_ack_interval", &T::custody_ack_interval, up_to(second), kReload,
             "between two reports of what the receiver has"),
      key<T>("initial_rtt", &T::initial_rtt, up_to(second * 10), kReload,
             "taken for the RTT until it was measured"),
      key<T>("receiver_timeout", &T::receiver_timeout, up_to(second * 60), kReload,
             "silence of the receiver until it is asked again"),
      key<T>("repair_bound", &T::repair_bound, time_between(second, hour), kReload,
             "repair without progress until the flow fails, where CM told no timeout"),
      key<T>("handshake_retry_min", &T::handshake_retry_min, up_to(second), kReload,
             "shortest time between two tries of a handshake"),
      key<T>("probe_interval", &T::probe_interval, up_to(second), kReload,
             "between two delay probes while flows are active; an idle span is probed every second"),
      key<T>("peer_timeout", &T::peer_timeout, time_between(Duration::millis(1), second * 60), kReload,
             "silence of the peer until nothing is acknowledged for it any more; protection switching takes 50 "
             "ms"),
      key<T>("idle_expiry", &T::idle_expiry, time_between(second, hour), kReload,
             "how long a flow may be idle with nothing owned"),
      key<T>("doubt_wait", &T::doubt_wait, time_between(Duration::millis(100), second * 60), kReload,
             "longest time a sender may take to go back (C9)"),
      key<T>("custody_max_age", &T::custody_max_age, time_between(second, hour * 24), kReload,
             "how long custody is kept while the span or the receiver is silent"),
      key<T>("registration_lease", &T::registration_lease, time_between(second, hour * 24), kReload,
             "how long a registered pair is remembered without traffic and without REGISTER"),
  });
}

Kind<Tuning> tuning_section() {
  using T = Tuning;
  auto all = [](auto& t) -> auto& { return t; };
  const Kind<T> gate = section<T>({
      key<T>("cnp_threshold", &T::gate_cnp_threshold, bytes_between(1, kGiB), kReload,
             "bytes waiting in the gate of one receiver above which its senders get CNPs"),
  });
  return section<T>({
      key<T>("ack_every", &T::ack_every, whole<uint32_t>(1, 65536), kReload,
             "packets admitted without AckReq until an ACK is due all the same"),
      key<T>("dest_ack_every", &T::dest_ack_every, whole<uint32_t>(1, 65536), kReload,
             "packets delivered until the receiver is asked for an ACK (H19)"),
      key<T>("small_message", &T::small_message, whole_bytes<uint32_t>(0, kGiB), kReload,
             "messages up to this size go before larger ones of other flows"),
      key<T>("gate", all, gate, kReload, "where packets wait for their budget"),
  });
}

}  // namespace matchrdma
