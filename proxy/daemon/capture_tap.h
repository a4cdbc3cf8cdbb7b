#pragma once
// `ctl capture`, the workers' half: which packets are chosen, and their way to the control thread.
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "controlplane/service/daemon_control.h"
#include "dataplane/flow/outbox.h"
#include "dataplane/shard/shard.h"

namespace matchrdma::daemon {

struct TappedPacket {
  size_t span = 0;
  Side side = Side::kLan;
  Instant at;
  std::vector<uint8_t> bytes;
  std::string comment;  ///< "in", "in: REASON", "out: CAUSE"
};

/// Duty: carries copies of chosen packets from all workers to the thread that writes them. Bounded: what finds
/// no room is counted and gone, so a slow disk never holds up a worker.
class CaptureTap {
 public:
  static constexpr size_t kRoomPackets = 8192, kRoomBytes = 16 << 20;

  explicit CaptureTap(service::CaptureRequest what) : what_(std::move(what)) {}
  const service::CaptureRequest& what() const { return what_; }

  void offer(TappedPacket p);
  /// Everything offered since the last time; `missed` grows by what found no room.
  std::vector<TappedPacket> take(uint64_t& missed);

 private:
  const service::CaptureRequest what_;
  std::mutex mutex_;
  std::vector<TappedPacket> waiting_;
  size_t waiting_bytes_ = 0;
  uint64_t missed_ = 0;
};

/// Duty: looks at what one span end receives and sends while a capture runs, for its tap. Used by one worker.
class SpanCapture {
 public:
  SpanCapture(std::shared_ptr<CaptureTap> tap, size_t span) : tap_(std::move(tap)), span_(span) {}

  /// Which reason a packet met is told by the counters around it, so nothing else may run with it.
  bool one_by_one() const { return !tap_->what().reasons.empty(); }
  /// Around Shard::run_once.
  void before(std::span<const RxItem> burst, const Shard& shard);
  void after(const Shard& shard, Instant now);
  void leaves(const OutItem& item, const Shard& shard, Instant now);

 private:
  bool chosen(Bytes frame, const Shard& shard) const;

  std::shared_ptr<CaptureTap> tap_;
  size_t span_;
  struct Arrived {
    Side side;
    std::vector<uint8_t> bytes;
    bool chosen;
  };
  std::vector<Arrived> arrived_;
  ReasonCounters counted_;
};

}  // namespace matchrdma::daemon
