#pragma once
// The application at one end of a channel: sends, takes, puts, adds, and judges every byte. For tests.
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "dataplane/base/prng.h"
#include "host/channel/channel_engine.h"
#include "host/model_fabric/model_nic.h"

namespace matchrdma::host::test {

struct ChannelLoad {
  uint32_t connections = 1, messages = 10;  ///< messages: of each connection, each direction
  uint64_t least_bytes = 0, most_bytes = 50'000;
  uint32_t buffers = 0;  ///< that the application posts to a connection; 0: the library's memory
  bool wait_for_buffers = false;
  uint32_t outstanding = 4;  ///< messages of a connection that were sent and not released
  uint32_t puts = 0, put_slots = 4, put_bytes = 1000;
  uint32_t atomics = 0;
  double lazy = 0;  ///< probability that it does not look for messages when it could
};

/// Duty: what this end's application has, over all lives of engines. A buffer that is its own again is filled
/// with garbage at once, and looked at before it is given away: a stale write would show.
class ChannelApp {
 public:
  ChannelApp(uint64_t seed, uint32_t end, const ChannelLoad& load, ModelNic& nic);

  /// A new pair of engines; what the peer does not have is sent again.
  void begin(ChannelEngine& engine, ChannelApp& peer);
  /// The engine is over: what it still has.
  void drain();
  /// The engine is gone.
  void end();
  /// One look.
  void step();
  /// All that it sends was delivered and released.
  bool done() const;
  const std::string& wrong() const { return wrong_; }
  std::string progress() const;
  uint64_t delivered() const { return delivered_messages_; }
  uint64_t unknown_atomics() const { return unknown_; }

 private:
  struct Sent {
    std::vector<uint8_t> bytes;
    bool released = false;
  };
  struct Posted {
    std::vector<uint8_t> bytes;
    uint8_t mark = 0;
    bool owned = true;
  };
  struct Connection {
    uint64_t base = 0, next = 0, released = 0;  ///< of what is sent, counted over all lives
    std::map<uint64_t, Sent> sent;
    uint64_t taken = 0;       ///< of what comes
    uint64_t taken_base = 0;  ///< of this life
    std::deque<Posted> posted;
  };
  struct Kept {
    std::vector<uint8_t> bytes;
    uint8_t mark;
  };
  std::vector<uint8_t> content(uint32_t from, uint32_t connection, uint64_t index) const;
  void fail(const std::string& what);
  void fill(Posted& p);
  void check_mark(Bytes bytes, uint8_t mark);
  void post(uint32_t id, Connection& c);
  void send(uint32_t id, Connection& c);
  void take(ChannelReceived r);
  void on_sent(const ChannelSent& s);
  void put();
  void look_at_puts();
  void step_atomics();

  uint64_t seed_;
  uint32_t end_;
  ChannelLoad load_;
  ModelNic& nic_;
  Prng prng_;
  ChannelEngine* engine_ = nullptr;
  ChannelApp* peer_ = nullptr;
  std::vector<Connection> connections_;
  std::deque<Kept> kept_;  ///< memory that the library gave away
  uint64_t delivered_messages_ = 0;
  // Puts.
  std::vector<uint8_t> window_;
  uint64_t put_base_ = 0, put_next_ = 0, put_released_ = 0, seen_puts_ = 0, seen_base_ = 0;
  std::map<uint64_t, std::vector<uint8_t>> put_bytes_;
  // Atomics on the peer's word.
  std::array<uint64_t, 1> word_{};
  Region word_region_;
  uint64_t asked_ = 0, reported_ = 0, asked_in_life_ = 0, reported_in_life_ = 0;
  uint64_t did_ = 0, unknown_ = 0, not_sent_ = 0;
  std::set<uint64_t> befores_;
  std::string wrong_;
};

}  // namespace matchrdma::host::test
