#pragma once
// Two SDR endpoints on model NICs. For tests.
#include <memory>
#include <string>
#include <vector>

#include "host/model_fabric/model_net.h"
#include "host/model_fabric/model_nic.h"
#include "host/sdr/endpoint.h"
#include "tests/host/applications.h"

namespace matchrdma::host::test {

struct RigSettings {
  uint64_t seed = 1;
  NicModel nic;
  PathModel there, back;  ///< of what A sends, of what B sends
  SdrOptions sdr;
  TrafficSettings traffic;
  Duration most_pause{};                            ///< between two looks of a host at its NIC
  Duration clock_offset = Duration::seconds(1000);  ///< of B's clock
  uint32_t restarts = 0;                            ///< of the connection, by A or B, in the middle
  Duration patience = Duration::seconds(120);
};

/// Duty: A sends messages of random bytes and lengths to B until B has them all and A has its buffers back.
class SdrRig {
 public:
  explicit SdrRig(const RigSettings& settings);
  /// Empty, or what went wrong.
  std::string run();
  /// When A sent its first packet, and when it had all its buffers back.
  Instant began_at() const { return began_at_; }
  Instant released_at() const { return released_at_; }
  ModelNet& net() { return net_; }
  SdrEndpoint& a() { return *ends_[0]; }
  SdrEndpoint& b() { return *ends_[1]; }
  uint32_t incomplete() const { return apps_.incomplete(); }  ///< messages that best effort gave up
  size_t delivered() const { return apps_.delivered(); }

 private:
  std::string connect();
  void step();
  void post_buffers();
  void take_received();
  void take_sent();
  std::vector<uint8_t> arrives(const std::vector<uint8_t>& sent, const ReceiveDone& d) const;
  Instant clock(uint32_t end) const { return net_.now() + (end == 0 ? Duration{} : settings_.clock_offset); }

  RigSettings settings_;
  ModelNet net_;
  Prng prng_;
  Applications apps_;
  std::unique_ptr<SdrEndpoint> ends_[2];
  uint32_t epoch_ = 0;
  Instant began_at_ = Instant::never(), released_at_;
  Instant look_at_[2];
  std::vector<Instant> restart_at_;
};

}  // namespace matchrdma::host::test
