#pragma once
// The story of one pair of hosts: connect, work, come to rest, disconnect; with reuse once more.
#include <optional>
#include <vector>

#include "pcap/make/host_pair.h"
#include "pcap/make/iterations.h"
#include "pcap/make/tap.h"
#include "pcap/make/trace_plan.h"

namespace matchrdma {

/// Duty: drives the hosts of one pair through their lives and writes down what is true of each connection.
class Session {
 public:
  /// All must outlive it.
  Session(const TraceRecipe& r, const TracePlan& plan, uint32_t number, model::PacketArena& arena,
          TraceTruth& truth, Tap& tap, Instant begin);

  /// Everything that happens at `now`.
  void step(Instant now);
  /// When to call step() next; never() when the story is over.
  Instant next() const;
  bool over() const { return phase_ == Phase::kOver; }
  uint64_t lost() const { return net_.lost(); }

 private:
  enum class Phase : uint8_t { kWaiting, kConnecting, kWorking, kSettling, kClosing, kOver };
  void begin_life(Instant now);
  void connect_due(Instant now);
  void start_work(Instant now);
  bool settled() const;
  void close(Instant now);
  bool closed();
  void end_life(Instant now);
  void change_phase(Instant now);
  Instant own_wake() const;
  TracePair& pair(size_t index) { return truth_.pairs[first_pair_ + index]; }
  uint32_t cm_id(size_t index, int side);
  bool by_cm() const { return r_.setup == TraceSetup::kCm; }

  const TraceRecipe& r_;
  const TracePlan& plan_;
  TraceTruth& truth_;
  Tap& tap_;
  HostPair net_;
  Phase phase_ = Phase::kWaiting;
  Instant wake_;  ///< of the story itself; the rest wakes for its own events
  uint32_t life_ = 0;
  size_t first_pair_ = 0;  ///< of this life in truth_.pairs
  size_t asked_ = 0;       ///< connections begun
  std::vector<Lane> lanes_;
  std::optional<Iterations> work_;
};

}  // namespace matchrdma
