#pragma once
// What both ends of a flowcell connection agree on, and what each chooses.
#include <cstdint>

#include "dataplane/base/result.h"
#include "dataplane/base/time.h"
#include "dataplane/base/types.h"
#include "host/fabric/immediate.h"

namespace matchrdma::host {

/// Agreed on before the queue pairs are connected.
struct FlowcellShape {
  uint32_t paths = 4;        ///< RC queue pairs
  uint32_t path_mtu = 4096;  ///< bytes
  uint32_t slots = 8;        ///< messages granted at a time, each direction
  uint32_t ring = 1024;      ///< tokens of a path's ring: at least twice the cells in flight
  /// Of immediates: slot | cell | low bits of the message's number. The highest cell number is the probe's.
  ImmediateLayout layout;
  bool operator==(const FlowcellShape&) const = default;
};

struct FlowcellOptions {
  FlowcellShape shape;
  uint64_t least_cell = 64 << 10, most_cell = 8 << 20;  ///< bytes
  Rate rate{100'000'000'000};                           ///< of one path, a guess until it is measured
  Duration round_trip = Duration::millis(10);           ///< a guess until it is measured
  /// The least that T_soft is above the average: 2 ms, or 100 ms through proxies, whose custody a protection
  /// switch of 50 ms must not throw away (HOST.md H9).
  Duration soft_floor = Duration::millis(2);
  /// Work requests of one path. The receive queue is the same at both ends: nobody has more cells in flight.
  uint32_t send_queue = 1024, receive_queue = 512;
  uint32_t timeout_exponent = 17;  ///< of the queue pairs (ConnectOptions)
};

/// What cannot work, in a sentence.
Result<void> check(const FlowcellOptions& o);

}  // namespace matchrdma::host
