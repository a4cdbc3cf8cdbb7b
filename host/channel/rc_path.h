#pragma once
// The queue pair of an engine in one epoch after the other: its requests, receives, credits and counters.
#include <deque>
#include <optional>
#include <vector>

#include "host/channel/channel_frame.h"
#include "host/channel/channel_options.h"
#include "host/channel/counter_table.h"
#include "host/channel/request_ring.h"

namespace matchrdma::host {

/// Where which counter stands in the table that the peer writes into.
struct CounterPlaces {
  uint32_t connections, windows;
  static constexpr uint32_t credits() { return 0; }
  uint32_t taken(uint32_t stream) const { return 1 + stream; }  ///< connections, then windows
  uint32_t arrived(uint32_t window) const { return 1 + connections + windows + window; }
  uint32_t atomics() const { return 1 + connections + 2 * windows; }
  uint32_t all() const { return atomics() + 1; }
};

/// What one receive has taken.
struct RcArrival {
  uint64_t receive = 0;  ///< for give_back()
  std::optional<uint32_t> immediate;
  Bytes bytes{};
};

/// Duty: one RC queue pair, its send window, receive credits (never RNR), counters both ways. A new epoch has a
/// new queue pair, new keys and counts from 0 (C3, H15). Does not know messages, or when to fence.
class RcPath {
 public:
  RcPath(const ChannelOptions& options, Nic& nic, ChannelCounters& n);
  ~RcPath();
  RcPath(const RcPath&) = delete;

  Result<void> prepare();
  /// A queue pair of the next epoch, with its receives.
  Result<QpAddress> make(uint32_t epoch);
  Result<void> connect(const QpAddress& peer);
  /// The first SEND; there is one credit for it.
  void say_open();
  void on_open(const ChannelFrame& f);
  /// To the error state (rule 2). Keys end.
  void fail();
  /// After fail(): all completions were seen; what took effect is known.
  bool drained() const { return receives_posted_ == 0 && ring_.drained(); }
  /// After that.
  void end();
  /// Leaves the queue pair as it is and forgets it: ChannelFaults::no_fence.
  void abandon();

  /// Reads the credits; before sending.
  void look();
  bool is(QpHandle qp) const { return qp_ && *qp_ == qp; }
  bool broken() const { return broken_; }  ///< an error was seen
  bool busy() const { return !ring_.empty() || used_ + receives_at_peer_ > credits_; }
  uint64_t progress() const { return progress_; }  ///< changes while things move

  std::optional<RcArrival> take(const Completion& c);
  void give_back(uint64_t receive) { owed_.push_back(receive); }
  /// Requests that are done since the last call.
  std::vector<RequestNote> take_done() { return std::exchange(done_, {}); }

  bool can_send();
  void send(const ChannelFrame& f, Bytes payload, const RequestNote& note);
  bool has_room(size_t bytes);
  bool has_credit();
  void write(Bytes data, uint32_t lkey, uint64_t remote, uint32_t rkey, const RequestNote& note);
  void write_last(Bytes data, uint32_t lkey, uint64_t remote, uint32_t rkey, uint32_t immediate,
                  const RequestNote& note);
  /// Behind what was posted; takes a slot of its own.
  bool can_write_counters(uint32_t slots) const { return free_slots_.size() >= slots && ring_.free() >= slots; }
  void write_counter(uint32_t place, uint64_t value, const RequestNote& note);
  /// `r` without data; its result is read back with result() while its note is handled.
  void atomic(SendRequest r, uint64_t number);
  uint64_t result(const RequestNote& note) const;

  /// To be told to the peer whenever there is room.
  void set_counter(uint32_t place, uint64_t value);
  uint64_t counter(uint32_t place) { return table_.read(place, n_.torn_counters); }
  const CounterPlaces& places() const { return places_; }
  /// Posts all that is pending, and receives.
  void flush();

 private:
  static constexpr uint32_t kReserve = 8;  // requests and slots that messages leave to counters
  static constexpr uint8_t kWritesPerCounter = 4;
  MutableBytes slot(uint32_t i);
  MutableBytes receive(uint64_t i);
  uint32_t take_slot();
  void forget_requests();
  void post_receives();
  void mark(uint32_t place);
  void write_counters();

  const ChannelOptions& options_;
  Nic& nic_;
  ChannelCounters& n_;
  CounterPlaces places_;
  CounterTable table_;
  RequestRing ring_;
  size_t room_;  ///< of one slot or receive
  std::vector<uint8_t> send_memory_, receive_memory_;
  std::optional<Region> send_region_, receive_region_;
  std::optional<QpHandle> qp_;
  uint32_t epoch_ = 0;
  bool broken_ = false, failed_ = false;
  std::vector<uint32_t> free_slots_;
  std::vector<uint64_t> owed_;  ///< receives to be posted
  uint32_t receives_posted_ = 0;
  std::vector<RequestNote> done_;
  uint64_t used_ = 0, credits_ = 1;  ///< receives of the peer: that we took, that it has posted in all
  uint64_t receives_at_peer_ = 1;    ///< its depth
  uint64_t remote_ = 0;              ///< its counters
  uint32_t rkey_ = 0;
  bool open_ = false;
  std::vector<uint64_t> values_, told_;  ///< of the peer's counters
  std::vector<uint8_t> writing_;
  std::deque<uint32_t> marked_;
  std::vector<bool> is_marked_;
  uint32_t counters_under_way_ = 0;
  uint64_t progress_ = 0;
};

}  // namespace matchrdma::host
