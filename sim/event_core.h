#pragma once
// The clockwork of a run: what happens next, in exact and repeatable order.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/base/check.h"
#include "sim/sim_time.h"

namespace matchrdma::sim {

/// Whoever wants to be called at a time. Is not owned by the core and must outlive its events.
class EventHandler {
 public:
  virtual void on_event(SimTime now, uint64_t argument) = 0;

 protected:
  ~EventHandler() = default;
};

/// Duty: a 4-ary heap of {time, sequence, handler, argument}. Equal times leave in the order of scheduling.
/// Does not know what it drives, and cannot cancel: Timer does that.
class EventCore {
 public:
  EventCore() { heap_.reserve(kFirstCapacity); }

  SimTime now() const { return now_; }
  uint64_t executed() const { return executed_; }
  size_t pending() const { return heap_.size() - (running_ ? 1 : 0); }
  /// Not from a handler.
  SimTime next_due() const {
    MRDMA_CHECK(!running_);
    return heap_.empty() ? SimTime::never() : heap_.front().at;
  }

  /// at: not before now().
  void schedule(SimTime at, EventHandler& handler, uint64_t argument = 0);
  /// Runs the earliest event; false when there is none.
  bool run_one();
  /// Runs all events up to and at `end`; now() is `end` afterwards.
  void run_until(SimTime end);

 private:
  static constexpr size_t kFirstCapacity = 1024, kArity = 4;
  struct Event {
    SimTime at;
    uint64_t sequence;
    EventHandler* handler;
    uint64_t argument;
    // One wide comparison has no branch to mispredict. Times are never negative.
    bool before(const Event& o) const { return key() < o.key(); }

   private:
    unsigned __int128 key() const {
      return static_cast<unsigned __int128>(static_cast<uint64_t>(at.ps)) << 64 | sequence;
    }
  };
  void fill_top(const Event& e);
  size_t least_child(size_t first) const;

  std::vector<Event> heap_;
  bool running_ =
      false;  ///< the event on top is being handled: its place is free for the first that it schedules
  SimTime now_;
  uint64_t next_sequence_ = 0, executed_ = 0;
};

}  // namespace matchrdma::sim
