#pragma once
// Who may use a switch's packet memory, and when a sender must be paused (SIMULATOR 3, "Shared buffer").
#include <array>
#include <cstdint>
#include <vector>

#include "sim/link.h"
#include "sim/sim_packet.h"

namespace matchrdma::sim {

struct BufferSettings {
  int64_t bytes = 32ll << 20;       ///< B
  int64_t reserved_bytes = 4096;    ///< of each port
  int64_t resume_gap_bytes = 3072;  ///< below the threshold by so much before RESUME
  int64_t headroom_delays = 3;      ///< headroom of a port: this times rate times one-way delay
  int shift = 3;                    ///< 2^-shift of what is free may be used by one port and class
  Rate nic_rate{100'000'000'000};   ///< shift is one less for each doubling of a port's rate over it
  /// HPCC computes the threshold in 32 bits without a sign: below zero it becomes about 4 GiB, and the switch
  /// neither pauses nor drops (SIMULATOR 3, defect 1).
  bool threshold_wraps = false;
};

/// Duty: accounts each packet to the port and class it came in by. Does not know egress queues.
class SharedBuffer {
 public:
  explicit SharedBuffer(const BufferSettings& settings) : s_(settings) {}

  /// The next port's link, as it comes in. Headrooms take half of the memory at most: where they want more, the
  /// largest are cut to one level, so that a long fibre does not take what short cables need.
  void add_port(const LinkSpec& spec);

  /// Room for `bytes` more; false: drop.
  bool admits(uint32_t port, uint32_t traffic_class, int64_t bytes) const;
  void charge(uint32_t port, uint32_t traffic_class, int64_t bytes);
  void release(uint32_t port, uint32_t traffic_class, int64_t bytes);
  /// After charge(): a PAUSE is to be sent. It counts as sent.
  bool should_pause(uint32_t port, uint32_t traffic_class);
  /// After release(): a RESUME is to be sent. It counts as sent.
  bool should_resume(uint32_t port, uint32_t traffic_class);

  int64_t threshold(uint32_t port) const;
  int64_t used() const { return used_; }
  int64_t peak() const { return peak_; }
  int64_t headroom(uint32_t port) const { return ports_[port].headroom; }

 private:
  struct Account {
    int64_t held = 0;      ///< reserved and shared bytes
    int64_t headroom = 0;  ///< bytes
    bool paused = false;
  };
  struct Port {
    int64_t wanted = 0;    ///< headroom by rate and delay
    int64_t headroom = 0;  ///< bytes there are, for each class
    int shift = 0;
    std::array<Account, kClasses> accounts{};
  };
  void share_headroom();
  int64_t shared(const Account& a) const { return a.held > s_.reserved_bytes ? a.held - s_.reserved_bytes : 0; }
  int64_t shared_with(const Account& a, int64_t more) const {
    return a.held + more > s_.reserved_bytes ? a.held + more - s_.reserved_bytes : 0;
  }

  BufferSettings s_;
  std::vector<Port> ports_;
  int64_t headrooms_ = 0;  ///< of all ports
  int64_t shared_used_ = 0, used_ = 0, peak_ = 0;
};

}  // namespace matchrdma::sim
