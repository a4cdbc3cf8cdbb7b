#pragma once
// Ports, packet memory and workers as a Config asks for them: everything that can fail at start.
#include <memory>
#include <string>
#include <vector>

#include "config/config.h"
#include "dataplane/io/eal.h"
#include "dataplane/io/mbuf_pool.h"
#include "proxy/daemon/dpdk_io.h"
#include "proxy/daemon/worker.h"

namespace matchrdma::daemon {

using DpdkWorker = Worker<DpdkIo>;

/// Duty: what runs, in the order in which it was made. Destroyed backwards: workers before ports before pools
/// before the EAL.
struct Machine {
  std::unique_ptr<io::Eal> eal;
  std::unique_ptr<io::Clock> clock;
  std::vector<std::unique_ptr<io::MbufPool>> pools;  ///< one per worker
  std::vector<PortPair> ports;                       ///< one per span
  std::unique_ptr<io::Dispatch> dispatch;
  std::vector<std::unique_ptr<io::Idle>> idle;  ///< one per worker, or none
  std::vector<std::unique_ptr<DpdkIo>> io;
  std::vector<std::unique_ptr<DpdkWorker>> workers;
  Limits limits;                      ///< of each shard: what the packet memory allows of the config's
  std::vector<std::string> sizes;     ///< what was computed, a line each, for the log
  std::vector<std::string> warnings;  ///< what is not as the config has it
};

/// Times of the shards of span number `span`.
Timing timing_of(const Config& config, size_t span);

/// Everything but the span ends. Errors say what does not suffice and what to do.
Result<std::unique_ptr<Machine>> start_machine(const Config& config);

}  // namespace matchrdma::daemon
