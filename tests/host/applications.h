#pragma once
// The applications of a rig: one sends messages, the other has buffers that it uses again and again. They judge
// every byte.
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "dataplane/base/bytes.h"
#include "dataplane/base/prng.h"

namespace matchrdma::host::test {

struct TrafficSettings {
  uint32_t messages = 10;
  uint64_t least_bytes = 1, most_bytes = 100'000;
  uint32_t buffers = 2;  ///< of the receiving application
};

/// Duty: makes the bytes, compares what came, and writes into whatever it owns, so that a stale write or a late
/// read would show. Messages are counted over all lives of a connection; a life has those that were not done.
class Applications {
 public:
  /// `shape`: makes of random bytes what may be sent.
  Applications(
      uint64_t seed, const TrafficSettings& settings, Prng& prng,
      std::function<void(MutableBytes)> shape = [](MutableBytes) {});

  /// A new life: it carries what the receiver has not been told of. Buffers are the application's again.
  void new_life();
  /// Source buffers of this life's messages, in order.
  size_t life_size() const { return pending_.size(); }
  const std::vector<uint8_t>& source(uint64_t message) const { return sent_[pending_[message]]; }

  /// A buffer to post, or nothing. The next posted() means it.
  MutableBytes offer();
  void posted();
  /// What was given to be sent, whatever became of its buffer.
  std::vector<uint8_t> sent(uint64_t message) const { return content(pending_[message]); }
  void received(uint64_t message, uint64_t length) { received(message, length, sent(message), false); }
  /// `expected`: what has to stand in the buffer, since some of it is `missing` for good.
  void received(uint64_t message, uint64_t length, const std::vector<uint8_t>& expected, bool missing);
  void released(uint64_t message);

  bool all_received() const { return done_.size() == settings_.messages; }
  size_t delivered() const { return done_.size(); }
  uint32_t incomplete() const { return incomplete_; }
  void complain(std::string what) {
    if (wrong_.empty()) wrong_ = std::move(what);
  }
  const std::string& wrong() const { return wrong_; }

 private:
  struct Buffer {
    std::vector<uint8_t> bytes;
    uint8_t mark = 0;   ///< what the application has filled it with
    bool owned = true;  ///< by the application
  };
  std::vector<uint8_t> content(uint32_t message) const;
  void fill(Buffer& b);

  uint64_t seed_;
  TrafficSettings settings_;
  Prng& prng_;
  std::function<void(MutableBytes)> shape_;
  std::vector<uint64_t> lengths_;
  std::vector<std::vector<uint8_t>> sent_;  ///< source buffers, by message
  std::vector<Buffer> buffers_;
  std::vector<size_t> posted_;  ///< buffers by the message of this life that they wait for
  size_t offered_ = 0;
  std::vector<uint32_t> pending_;  ///< messages by their number in this life
  std::set<uint32_t> done_;        ///< messages that the receiving application has
  uint32_t incomplete_ = 0;
  std::string wrong_;
};

}  // namespace matchrdma::host::test
