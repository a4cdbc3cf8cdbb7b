#pragma once
// Every limit of one worker, named, with its arithmetic.
#include <cstdint>

#include "dataplane/base/time.h"
#include "dataplane/base/types.h"
#include "dataplane/flow/policy.h"

namespace matchrdma {

struct CorrelationLimits {
  uint32_t host_pairs = 512;  ///< directions between two hosts in which flows are watched
  uint32_t streams = 2048;  ///< watched at one time, of requests and of answers each: 1.1 KiB and 0.2 KiB each
  Duration idle = Duration::seconds(10);  ///< after that a stream is forgotten
};

struct Limits {
  uint32_t max_flows = 65536;                   ///< flow records (two per QP pair)
  uint32_t max_owning_flows = 16384;            ///< flows that may hold packets at one time, per role
  uint64_t custody_soft_bytes = 768ull << 20;   ///< above: hold_max releases nothing, CNPs at full rate
                                                ///< (the same share of custody_packets)
  uint64_t custody_hard_bytes = 1024ull << 20;  ///< above: only the reserve per owning flow is accepted
  uint64_t reserve_bytes_per_flow =
      64 << 10;  ///< 64 KiB x max_owning_flows = 1 GiB on top of the hard limit at worst
  uint64_t reorder_memory = 256ull << 20;  ///< destination, per worker: about 2 BDP of 100 Gb/s at 1000 km
  uint32_t custody_packets = 1u << 20;     ///< window entries of all flows, 64 B each: 64 MiB
  uint32_t held_packets = 1u << 20;        ///< destination entries of all flows
  uint32_t confirmed_entries = 1u << 18;   ///< ring of confirmed fingerprints, all flows, 16 B each
  uint32_t confirmed_per_flow = 1024;
  uint32_t lan_gap_packets = 256;    ///< kept behind a LAN gap, per flow
  uint32_t read_ranges = 256;        ///< outstanding and remembered READ-class requests, per flow
  int64_t max_psn_window = 1 << 22;  ///< H18: half of the unambiguous half of the PSN space
  uint32_t max_groups = 4096;
  CorrelationLimits correlation;
};

struct Timing {
  Duration lan_reorder_wait = Duration::micros(20);
  Duration hold_max = Duration::micros(500);       ///< H3
  Duration reorder_window = Duration::micros(50);  ///< how much the span may reorder (H2)
  Duration custody_ack_interval = Duration::micros(100);
  Duration initial_rtt = Duration::millis(20);      ///< until a PROBE was answered
  Duration receiver_timeout = Duration::millis(4);  ///< destination's local timeout before a probe
  Duration repair_bound = Duration::seconds(60);    ///< repair without progress, when CM told no timeout
  Duration cnp_min_interval = Duration::micros(50);
  Duration cnp_port_interval = Duration::micros(4);
  Duration handshake_retry_min = Duration::millis(1);
  Duration probe_interval = Duration::millis(10);
  Duration peer_timeout = Duration::millis(200);
  Duration idle_expiry = Duration::seconds(60);  ///< copies kept for a barrier that nobody lifts
  Duration doubt_wait = Duration::seconds(5);    ///< longest time a sender may take to go back (C9)
  Duration custody_max_age = Duration::seconds(300);
  Duration registration_lease = Duration::seconds(3600);  ///< renewed by traffic and by REGISTER
};

struct Tuning {
  Rate budget{100'000'000'000};  ///< fixed rate per budget group, until the estimator drives it
  uint64_t budget_burst_bytes = 256 << 10;
  Rate egress{100'000'000'000};  ///< destination pacing per group
  uint64_t egress_burst_bytes = 256 << 10;
  uint32_t ack_every = 64;                ///< packets admitted without AckReq until an ACK is due all the same
  uint32_t dest_ack_every = 64;           ///< H19
  uint32_t small_message = 16 << 10;      ///< bytes: queued before larger ones of other flows
  uint64_t gate_cnp_threshold = 4 << 20;  ///< bytes in the gate of one group
  Completion learned = Completion::kTransparent;  ///< policy of pairs that nobody registered (C7)
  Duration slot{};                  ///< of the destination's records (ESTIMATOR, Input); 0: none are kept
  uint64_t queue_target = 300'000;  ///< bytes that may stand in a receiver's network (ESTIMATOR 7)
  bool check_icrc = true;
  uint8_t cnp_dscp = 48;
};

}  // namespace matchrdma
