#pragma once
// Fetch-and-add and compare-and-swap on the peer's memory: at most once, and reported (HOST.md C12).
#include <deque>
#include <optional>

#include "host/channel/rc_path.h"

namespace matchrdma::host {

struct ChannelAtomic {
  /// kDone: it took effect and `before` stood there. kTookEffect: it did, the answer was lost. kUnknown: it may
  /// have. kNotSent: it did not.
  enum class What : uint8_t { kDone, kTookEffect, kUnknown, kNotSent };
  uint64_t number = 0;
  What what = What::kNotSent;
  uint64_t before = 0;
};

/// Duty: a log WRITE behind each atomic; after the fence what the log does not show is unknown, and nothing is
/// posted twice.
class RemoteAtomics {
 public:
  /// An 8 byte word of the peer, under a key with Access::kRemoteAtomic; 8 divides its address.
  struct Place {
    uint64_t remote = 0;
    uint32_t rkey = 0;
  };
  uint64_t fetch_add(const Place& place, uint64_t add) {
    return request(place, SendRequest::Op::kFetchAdd, add, 0);
  }
  uint64_t compare_swap(const Place& place, uint64_t compare, uint64_t swap) {
    return request(place, SendRequest::Op::kCompareSwap, compare, swap);
  }
  std::optional<ChannelAtomic> take();

  void work(RcPath& path);
  void on_done(const RequestNote& note, uint64_t before);
  /// The queue pair is fenced; the peer's log shows all below.
  void fence(uint64_t logged);
  void give_up();

 private:
  static constexpr size_t kUnderWay = 16;  // what NICs let one queue pair have (IBA 9.7.5.1.4)
  uint64_t request(const Place& place, SendRequest::Op op, uint64_t add_or_compare, uint64_t swap);

  std::deque<SendRequest> waiting_;  ///< `id`: number
  std::deque<uint64_t> posted_;
  std::deque<ChannelAtomic> done_;
  uint64_t next_ = 0;
};

}  // namespace matchrdma::host
