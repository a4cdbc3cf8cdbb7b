#pragma once
// One port of the proxy: a NIC by its PCI address, or a vdev.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dataplane/base/packet.h"
#include "dataplane/base/result.h"
#include "dataplane/io/mbuf_pool.h"

namespace matchrdma::io {

struct PortOptions {
  std::string device{};     ///< "0000:3b:00.0" or "net_af_packet0,iface=eth1"
  uint16_t workers = 1;     ///< a receive and a transmit queue for each, where the device has as many
  uint32_t mtu = 0;         ///< 0: what the interface of the kernel has, else the device's largest up to 9216
  uint32_t rx_ring = 1024;  ///< descriptors per queue
  uint32_t tx_ring = 1024;
  bool promiscuous = true;
  bool standing = false;  ///< a vdev that the process has made itself (io/ring)
  uint64_t tag = 0;       ///< put into Packet::tag of all that is received here
};

/// What must be known before the pools of a port can be made.
struct PortPlan {
  PortOptions options{};     ///< the device with all arguments, the MTU as it will be
  std::string pci{};         ///< what Eal must be allowed to take; empty for a vdev
  uint32_t packet_room = 0;  ///< bytes that a packet of the pools must hold
};
/// Reads the device string and the kernel's MTU, and fills in what was left open.
Result<PortPlan> plan_port(PortOptions options);

enum class Lane : uint8_t {
  kBulk,
  kControl,  ///< control and priority traffic: an own queue where the device has enough of them. Elsewhere the
             ///< caller's order is the priority: send kControl before kBulk in every round.
};

struct PortAbilities {
  std::string driver;
  uint16_t rx_queues = 1;          ///< fewer than workers: the workers behind take from a Dispatch
  uint16_t tx_queues = 1;          ///< for kBulk; fewer than workers: shared under a lock
  bool rss = false;                ///< both directions of an IP pair arrive at one worker; else use a Dispatch
  bool control_queues = false;     ///< kControl has queues of its own
  bool link_forwarding = false;    ///< set_link() is supported
  bool kernel_backed = false;      ///< an interface of the kernel: af_packet, af_xdp, tap
  bool wakes = false;              ///< a sleeping worker is woken by what arrives
  bool exact_tags = true;          ///< VLAN tags arrive as they were sent; false: 0x88a8 becomes 0x8100
  bool ends_with_process = false;  ///< nothing stays behind where it is not closed; the kernel does that faster
  std::string
      merging;  ///< why the kernel may still merge frames before they arrive (GRO, LRO); empty: it does not
};

struct LinkState {
  bool up = false;
  bool gone = false;  ///< the interface of the kernel was removed: the port must be opened anew
  uint32_t mbps = 0;  ///< 0: not known
  bool operator==(const LinkState&) const = default;
};

/// Counted by the device or its driver.
struct PortStats {
  uint64_t rx_packets = 0, rx_bytes = 0, tx_packets = 0, tx_bytes = 0;
  uint64_t rx_missed = 0;     ///< no room in the device's ring
  uint64_t rx_no_memory = 0;  ///< no packet in the pool
  uint64_t rx_errors = 0, tx_errors = 0;
};

/// Counted here, per worker; written by that worker alone.
struct QueueStats {
  uint64_t rx_chained = 0;    ///< dropped: longer than one packet of the pool
  uint64_t rx_cut_off = 0;    ///< dropped: longer than a frame of the kernel's ring
  uint64_t rx_copied = 0;     ///< arrived in memory that somebody in this process still held
  uint64_t rx_no_copy = 0;    ///< the same, dropped because the pool had no packet for the copy
  uint64_t tx_full = 0;       ///< dropped: the device took no more within the retries
  uint64_t tx_link_down = 0;  ///< dropped: the interface is off
  uint64_t tx_too_long = 0;   ///< dropped: longer than the MTU of the kernel's interface
};

/// Duty: bursts in and out of one device, its link, its counters. Receives one-segment packets only. Does not
/// know the other port, nor what packets mean. rx_burst and tx_burst of a worker are called by that worker
/// alone; everything else by one control thread.
class Port {
 public:
  /// `pools[w]` feeds the receive queue of worker w.
  static Result<std::unique_ptr<Port>> open(const PortPlan& plan, std::span<MbufPool* const> pools);
  /// Stops and closes the device. Pools must outlive the port.
  ~Port();
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  static constexpr uint32_t kMaxBurst = 64;

  /// Up to out.size() packets (at most kMaxBurst); returns how many.
  uint32_t rx_burst(uint16_t worker, std::span<PacketRef> out);
  /// Takes every reference of `packets` (at most kMaxBurst); what the device does not take within a bounded
  /// number of tries is dropped and counted. Returns how many left.
  uint32_t tx_burst(uint16_t worker, Lane lane, std::span<PacketRef> packets);

  const PortAbilities& abilities() const;
  const std::string& name() const;
  uint32_t mtu() const;
  std::array<uint8_t, 6> mac() const;
  PortStats stats() const;
  const QueueStats& queue_stats(uint16_t worker) const;

  LinkState link() const;
  /// The new state when it has changed since the last call. Call it every few milliseconds, or when link_fd()
  /// is readable.
  std::optional<LinkState> poll_link();
  /// Readable when poll_link() has news; -1: this port must be asked.
  int link_fd() const;
  /// Loss forwarding (H14): the neighbour sees the link go down or come up.
  Result<void> set_link(bool up);

  /// Descriptors that become readable when something arrives for `worker`; empty where abilities().wakes is
  /// false.
  std::vector<int> wake_descriptors(uint16_t worker) const;

 private:
  struct Impl;
  explicit Port(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace matchrdma::io
