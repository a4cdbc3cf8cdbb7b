#pragma once
// What a packet costs at least: the bare steps that a proxy cannot do without, by DPDK's own means.
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dataplane/base/result.h"
#include "dataplane/io/mbuf_pool.h"
#include "dataplane/io/ring/ring_port.h"

namespace matchrdma::io {

/// Identity of a flow as 16 bytes: both addresses (IPv4) and the QPN.
using FlowName = std::array<uint32_t, 4>;

/// Duty: receives bursts from a port in memory, finds the flow of each packet in a table, computes its ICRC,
/// keeps it by a reference until `depth` newer ones are kept, allocates the ACKs, and sends. Each step can be
/// left out. Knows no protocol.
class Primitives {
 public:
  struct Steps {
    bool lookup = true, icrc = true, retain = true, acks = true;
  };
  /// Packets of `flows`, in any order; every `packets_per_ack`-th brings an ACK.
  static Result<std::unique_ptr<Primitives>> create(RingPort& port, MbufPool& pool,
                                                    std::span<const FlowName> flows, uint32_t depth,
                                                    uint32_t packets_per_ack);
  ~Primitives();
  Primitives(const Primitives&) = delete;

  /// Everything that waits at the port; returns TSC cycles.
  uint64_t run(const Steps& steps);
  /// Packets whose flow was not in the table, or whose ICRC was wrong: must stay 0.
  uint64_t wrong() const { return wrong_; }

 private:
  struct Impl;
  Primitives(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
  uint64_t wrong_ = 0;
};

/// Cycles of the counter that run() counts by, per second.
double tsc_hz();
uint64_t tsc();

}  // namespace matchrdma::io
