#pragma once
// The chain of work requests of a queue pair: in flight, pending, free (ByteExpress 5.4.1).
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "host/fabric/nic.h"

namespace matchrdma::host {

/// Why a request was made.
struct RequestNote {
  enum class What : uint8_t { kNone, kFragment, kMessageEnd, kCounter, kAtomic };
  What what = What::kNone;
  uint32_t slot = UINT32_MAX;  ///< of the send memory that it reads
  uint32_t stream = 0;         ///< or counter
  uint64_t message = 0;        ///< or atomic
};

/// Duty: never more requests than the send queue holds, one doorbell for a batch, a completion for the last of
/// it and for every `signal_bytes`: a batch as long as the send window would free nothing before its end is
/// back.
class RequestRing {
 public:
  RequestRing(uint32_t capacity, uint64_t signal_bytes)
      : requests_(capacity), notes_(capacity), signal_bytes_(signal_bytes) {}

  size_t free() const { return requests_.size() - static_cast<size_t>(made_ - done_); }
  bool empty() const { return made_ == done_; }
  uint64_t pending() const { return made_ - posted_; }
  uint64_t bytes() const { return bytes_; }  ///< pending and in flight
  /// Only while there is a free one.
  void add(SendRequest r, const RequestNote& note) {
    MRDMA_CHECK(free() > 0);
    r.id = made_;
    unsignalled_ += r.data.size();
    if (unsignalled_ >= signal_bytes_) r.signalled = true;
    if (r.signalled) unsignalled_ = 0;
    bytes_ += r.data.size();
    requests_[made_ % requests_.size()] = r;
    notes_[made_ % requests_.size()] = note;
    ++made_;
  }
  /// Posts what is pending. Returns how many doorbells that took: two where the chain comes round.
  uint32_t post(Nic& nic, QpHandle qp) {
    if (posted_ == made_) return 0;
    uint32_t doorbells = 0;
    while (posted_ < made_) {
      const size_t from = posted_ % requests_.size();
      const size_t some = std::min<size_t>(made_ - posted_, requests_.size() - from);
      requests_[from + some - 1].signalled = true;
      ++doorbells;
      const size_t taken = nic.post_send(qp, std::span(requests_).subspan(from, some));
      posted_ += taken;
      if (taken < some) break;
    }
    return doorbells;
  }
  /// Request `id` is done, and with it all before it: `each(note)` for them in order.
  template <class Each>
  void complete(uint64_t id, Each&& each) {
    for (; done_ <= id && done_ < posted_; ++done_) {
      bytes_ -= requests_[done_ % requests_.size()].data.size();
      each(notes_[done_ % notes_.size()]);
    }
  }
  /// The queue pair has failed and this was heard of request `id`: nothing before it is still in the NIC.
  void flushed(uint64_t id) { heard_ = std::max(heard_, id + 1); }
  /// After a failure: the NIC has nothing of it any more.
  bool drained() const { return std::max(heard_, done_) >= posted_; }
  void clear() { *this = RequestRing(static_cast<uint32_t>(requests_.size()), signal_bytes_); }

 private:
  std::vector<SendRequest> requests_;
  std::vector<RequestNote> notes_;
  uint64_t made_ = 0, posted_ = 0, done_ = 0, heard_ = 0;
  uint64_t bytes_ = 0;
  uint64_t signal_bytes_, unsignalled_ = 0;
};

}  // namespace matchrdma::host
