#pragma once
// One queue pair with the requests it has posted. For the .cc files of this room alone.
#include <optional>
#include <span>
#include <vector>

#include "host/verbs/device.h"

namespace matchrdma::host {

/// What the NIC keeps with a request and gives back with its completion: which queue pair, which of its two
/// queues, and the request's number there. A completion with an error says nothing else that is true.
struct RequestTag {
  bool receive = false;
  uint32_t qp = 0;      ///< 31 bits
  uint32_t number = 0;  ///< counts on, and wraps
  uint64_t packed() const { return uint64_t{receive} << 63 | uint64_t{qp} << 32 | number; }
  static RequestTag of(uint64_t v) {
    return {v >> 63 != 0, static_cast<uint32_t>(v >> 32) & 0x7fffffff, static_cast<uint32_t>(v)};
  }
};

/// Duty: the caller's ids of what one queue has posted, and its free room. Requests complete in order.
class PostedIds {
 public:
  explicit PostedIds(uint32_t room);
  uint32_t room() const { return room_ - (next_ - oldest_); }
  /// The number of the request.
  uint32_t post(uint64_t id);
  /// Forgets the newest: the NIC did not take them.
  void take_back(uint32_t count) { next_ -= count; }
  /// The id, and everything up to this one is done. Nothing where none of that number is posted.
  std::optional<uint64_t> complete(uint32_t number);
  /// The id of the oldest that is posted, which is done.
  std::optional<uint64_t> complete_oldest() { return oldest_ == next_ ? std::nullopt : complete(oldest_); }

 private:
  uint32_t room_;
  std::vector<uint64_t> ids_;  ///< a power of two, so that numbers may wrap
  uint32_t oldest_ = 0, next_ = 0;
};

/// Duty: states and requests of one queue pair.
class QueuePair {
 public:
  static Result<QueuePair> create(const Device& device, uint32_t handle, const QpOptions& options);

  Result<void> connect(const Device& device, const QpAddress& peer, const ConnectOptions& options);
  void fail();
  /// False: the NIC cannot do even that.
  bool try_fail();
  uint32_t qpn() const { return qp_->qp_num; }
  /// Of a NIC that flushes no more: what it has of this queue pair ends here, one id after the other.
  std::optional<uint64_t> abandon(bool receive) { return (receive ? received_ : sent_).complete_oldest(); }
  QpAddress address(const Device& device) const { return {qp_->qp_num, psn_, device.gid}; }
  uint32_t entries() const { return options_.send_queue + options_.receive_queue; }

  size_t post_send(std::span<const SendRequest> requests);
  size_t post_receive(std::span<const ReceiveRequest> requests);
  /// Of a completion with this tag; nothing where it is none of these.
  std::optional<uint64_t> complete(const RequestTag& tag) {
    return (tag.receive ? received_ : sent_).complete(tag.number);
  }

 private:
  QueuePair(QpPtr qp, uint32_t handle, const QpOptions& options, uint32_t psn);
  size_t post_send_some(std::span<const SendRequest> requests);
  size_t post_receive_some(std::span<const ReceiveRequest> requests);

  QpPtr qp_;
  AhPtr peer_;  ///< UD
  uint32_t peer_qpn_ = 0, peer_qkey_ = 0;
  uint32_t handle_;
  QpOptions options_;
  uint32_t psn_;
  PostedIds sent_, received_;
};

}  // namespace matchrdma::host
