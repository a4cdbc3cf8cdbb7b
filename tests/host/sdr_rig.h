#pragma once
// Two SDR endpoints on model NICs, applications that reuse their buffers, and a judge of every byte. For tests.
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "host/model_fabric/model_net.h"
#include "host/model_fabric/model_nic.h"
#include "host/sdr/endpoint.h"

namespace matchrdma::host::test {

struct RigSettings {
  uint64_t seed = 1;
  NicModel nic;
  PathModel there, back;  ///< of what A sends, of what B sends
  SdrOptions sdr;
  uint32_t messages = 10;
  uint64_t least_bytes = 1, most_bytes = 100'000;
  uint32_t buffers = 2;                             ///< that B's application has, each used again and again
  Duration most_pause{};                            ///< between two looks of a host at its NIC
  Duration clock_offset = Duration::seconds(1000);  ///< of B's clock
  uint32_t restarts = 0;                            ///< of the connection, by A or B, in the middle
  Duration patience = Duration::seconds(120);
};

/// Duty: A sends `messages` of random bytes and lengths to B. Each message that B is told of is compared; then
/// B's application writes into the buffer, as its own by now, and looks at it again before it is given away: a
/// stale write would show.
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
  uint32_t incomplete() const { return missing_; }  ///< messages that best effort gave up
  size_t delivered() const { return done_.size(); }

 private:
  struct Buffer {
    std::vector<uint8_t> bytes;
    uint8_t mark = 0;   ///< what the application has filled it with
    bool owned = true;  ///< by the application
  };
  std::string connect();
  void step();
  void post_buffers();
  void take_received();
  void take_sent();
  void fill(Buffer& b);
  std::vector<uint8_t> content(uint32_t message) const;
  std::vector<uint8_t> arrives(const std::vector<uint8_t>& sent, const ReceiveDone& d) const;
  Instant clock(uint32_t end) const { return net_.now() + (end == 0 ? Duration{} : settings_.clock_offset); }

  RigSettings settings_;
  ModelNet net_;
  Prng prng_;
  std::unique_ptr<SdrEndpoint> ends_[2];
  std::vector<uint64_t> lengths_;
  std::vector<std::vector<uint8_t>> sent_;  ///< source buffers, alive until released
  std::vector<Buffer> buffers_;
  std::vector<size_t> posted_;     ///< buffers by the message of this epoch that they wait for
  std::set<uint32_t> done_;        ///< messages that B's application has
  std::vector<uint32_t> pending_;  ///< messages by their number in this epoch
  uint32_t epoch_ = 0, released_ = 0, missing_ = 0;
  Instant began_at_ = Instant::never(), released_at_;
  Instant look_at_[2];
  std::vector<Instant> restart_at_;
  std::string wrong_;
};

}  // namespace matchrdma::host::test
