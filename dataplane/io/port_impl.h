#pragma once
// What a Port is made of. Inside dataplane/io only.
#include <rte_ethdev.h>
#include <rte_spinlock.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/io/device_claim.h"
#include "dataplane/io/device_name.h"
#include "dataplane/io/link_watch.h"
#include "dataplane/io/packet_ring.h"
#include "dataplane/io/port.h"

namespace matchrdma::io {

/// State of one worker at one port, on cache lines of its own.
struct alignas(RTE_CACHE_LINE_SIZE) WorkerQueue {
  uint16_t rx = 0;        ///< queue of the device
  bool receives = false;  ///< false: the device has no receive queue for this worker
  uint16_t tx_bulk = 0, tx_control = 0;
  std::optional<PacketRing> ring;
  QueueStats stats;
};

struct Port::Impl {
  DeviceName device;
  PortPlan plan;
  PortAbilities abilities;
  std::optional<DeviceClaim> claim;
  uint16_t id = RTE_MAX_ETHPORTS;
  bool configured = false;
  std::vector<WorkerQueue> workers;
  bool shared_tx = false;
  rte_spinlock_t tx_lock = RTE_SPINLOCK_INITIALIZER;
  std::vector<int> sockets;
  std::unique_ptr<LinkWatch> watch;
  LinkState last_link;
  std::atomic<bool> interface_up{true};  ///< kernel-backed: switched on, as poll_link() saw it last
  uint32_t longest_tx = UINT32_MAX;      ///< kernel-backed: the MTU with the Ethernet header

  ~Impl();
  Result<void> setup(std::span<MbufPool* const> pools);

 private:
  Result<void> take_claim();
  int add_device(const char* bus);
  Result<void> probe();
  Result<void> configure(const rte_eth_dev_info& info);
  Result<void> set_mtu(const rte_eth_dev_info& info);
  void stop_merging();
  Result<void> make_queues(std::span<MbufPool* const> pools);
  Result<void> watch_kernel();
  Error failed(const std::string& what, int error) const;
  size_t log_mark_ = 0;
};

}  // namespace matchrdma::io
