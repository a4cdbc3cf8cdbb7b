#pragma once
// What a replay is asked to do, and what it found.
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controlplane/estimator/settings.h"
#include "controlplane/estimator/slot_view.h"
#include "dataplane/base/time.h"
#include "dataplane/flow/counters.h"
#include "dataplane/flow/flow_key.h"
#include "dataplane/flow/policy.h"
#include "pcap/trace_flows.h"

namespace matchrdma {

/// The span goes dark `at` after the first packet, for `length`.
struct ReplayCut {
  Duration at, length;
};

struct ReplayOptions {
  std::string trace;
  double distance_km = 1000;
  Rate rate{100'000'000'000};    ///< of the span
  Rate budget{100'000'000'000};  ///< per receiver; with an estimator: the most
  std::optional<EstimatorSettings> estimator;
  bool keep_slots = false;  ///< hand out every slot of the estimator, about half a kilobyte each
  Completion completion = Completion::kEarly;
  bool register_flows = false;  ///< false: the proxies' learners have to find the pairs
  bool transparent = false;     ///< both proxies only watch: nothing is registered
  double loss = 0, reorder = 0, duplicate = 0, corrupt = 0;
  std::optional<ReplayCut> cut;
  uint64_t seed = 1;
  std::optional<Cidr> site_a;
  std::string write_lan_a, write_lan_b, write_wan;  ///< empty: not written
  /// Told how far the work is: phase, done, total.
  std::function<void(const char* phase, uint64_t done, uint64_t total)> progress;

  /// 5 us per km: light in fibre.
  Duration one_way() const { return {static_cast<int64_t>(distance_km * kNanosPerKm)}; }
};

/// Percentiles in nanoseconds; absent when there was nothing to measure.
struct Percentiles {
  uint64_t samples = 0;
  int64_t p50 = 0, p99 = 0, max = 0;
};

struct DeliveryReport {
  uint64_t requests_in = 0, requests_out = 0, lost = 0;
  uint64_t gone_on_span = 0;  ///< of the lost: on the span, before a proxy answered for them
  bool in_order = true, bytes_identical = true;
  std::map<std::string, uint64_t> copies;  ///< further copies of requests, by cause
  uint64_t read_copies_in = 0, read_copies_out = 0;
  uint64_t responses_in = 0, responses_out = 0;
  bool responses_identical = true;  ///< every one that left had entered, byte for byte
  uint64_t bad_icrc_out = 0;        ///< packets the proxies made or touched whose ICRC is wrong: must be 0
  uint64_t unknown_out = 0;         ///< requests that left and never entered: must be 0
  uint64_t aeth_above_fence = 0;    ///< ACKs or NAKs of ours at or above an unanswered READ: must be 0
  uint64_t aeth_not_owned = 0;      ///< ACKs of ours for PSNs that never entered: must be 0
  /// Something happened that a proxy must never do.
  bool broken() const { return bad_icrc_out + unknown_out + aeth_above_fence + aeth_not_owned != 0; }
};

struct SpanReport {
  uint64_t lost = 0, repaired = 0, reordered = 0;
  uint64_t duplicated = 0, corrupted = 0, control_lost = 0, responses_lost = 0;
  int64_t peak_queue_bytes = 0;
  int64_t peak_in_flight_bytes = 0;  ///< of both directions
};

struct HostReport {
  std::string name;
  Site site = 0;
  uint64_t packets = 0;
  Duration shift;  ///< how much later its last packet entered than captured
};

/// A slot of one receiver, as the proxy before it saw it.
struct ReplaySlot {
  Site site = 0;
  GroupKey group;
  SlotOutput slot;
};

/// The budgets that one proxy made for a receiver.
struct BudgetSummary {
  Site site = 0;
  GroupKey group;
  uint64_t made = 0;
  Rate lowest, highest;
};

struct ReplayResult {
  std::vector<TraceStream> streams;
  TraceCounts trace;
  /// How the proxies came to know a stream.
  struct Learned {
    std::string by = "none";        ///< a key of LearnedBy
    std::optional<Qpn> sender_qpn;  ///< that they paired it with
    std::string state;              ///< of its flow at the source, at the end; empty: not known
    std::string why_not;            ///< for people: why it was not paired, or not activated
  };
  std::vector<Learned> learned;  ///< per stream
  std::vector<std::string> warnings;
  std::array<Counters, 2> proxy;  ///< of proxy A and B
  DeliveryReport delivery;
  Percentiles with_proxy, without_proxy;
  Percentiles by_receiver, by_proxy;  ///< parts of with_proxy: whose ACK it was
  SpanReport span;
  std::vector<HostReport> hosts;
  std::vector<BudgetSummary> budgets;  ///< empty without an estimator
  std::vector<ReplaySlot> slots;       ///< those of a proxy in order; empty unless asked for
  uint64_t behind_gap = 0;             ///< requests still kept behind one that the recording lacks
  uint64_t unanswered_requests = 0;
  uint64_t released_without_cause = 0;
  uint64_t packets_fed = 0;
  Duration virtual_time;  ///< first packet entered to the end
};

Result<ReplayResult> replay(const ReplayOptions& options);

}  // namespace matchrdma
