#pragma once
// `ctl capture`, the control thread's half: the file and its limits.
#include <memory>
#include <string>
#include <vector>

#include "pcap/pcapng_writer.h"
#include "proxy/daemon/capture_tap.h"

namespace matchrdma::daemon {

/// Duty: writes what its tap brings until a limit is met, the time is over or it is stopped.
class CaptureRun {
 public:
  /// `unix_epoch`: what to add to a worker's time for nanoseconds since 1970.
  static Result<std::unique_ptr<CaptureRun>> start(const service::CaptureRequest& what,
                                                   const std::string& folder,
                                                   const std::vector<std::string>& spans, Instant now,
                                                   Duration unix_epoch);

  const std::shared_ptr<CaptureTap>& tap() const { return tap_; }
  /// Writes what has come. Cheap when the capture has ended.
  void pump(Instant now);
  void stop(Instant now);
  const service::CaptureStatus& status() const { return status_; }

 private:
  CaptureRun(const service::CaptureRequest& what, PcapngWriter file, Instant ends, Duration unix_epoch);
  void write(const TappedPacket& p);
  void end(const std::string& why);
  void count();

  std::shared_ptr<CaptureTap> tap_;
  PcapngWriter file_;
  Instant ends_;
  Duration unix_epoch_;
  service::CaptureStatus status_;
  bool failed_ = false;  ///< the file could not take all of it
};

}  // namespace matchrdma::daemon
