#include "proxy/daemon/capture_run.h"

#include <utility>

namespace matchrdma::daemon {

Result<std::unique_ptr<CaptureRun>> CaptureRun::start(const service::CaptureRequest& what,
                                                      const std::string& folder,
                                                      const std::vector<std::string>& spans, Instant now,
                                                      Duration unix_epoch) {
  std::vector<std::string> interfaces;
  for (const std::string& s : spans) {
    interfaces.push_back(s + "-lan");
    interfaces.push_back(s + "-wan");
  }
  auto file = PcapngWriter::open(folder + "/" + what.file, interfaces);
  if (!file) return Error{file.error()};
  return std::unique_ptr<CaptureRun>(new CaptureRun(what, std::move(*file), now + what.max_time, unix_epoch));
}

CaptureRun::CaptureRun(const service::CaptureRequest& what, PcapngWriter file, Instant ends,
                       Duration unix_epoch)
    : tap_(std::make_shared<CaptureTap>(what)), file_(std::move(file)), ends_(ends), unix_epoch_(unix_epoch) {
  status_.running = true;
  status_.file = file_.name();
  status_.text = "ends after " + std::to_string(what.max_packets) + " packets, " +
                 std::to_string(what.max_bytes) + " bytes or " +
                 std::to_string(what.max_time.ns / 1'000'000'000) + " s";
}

void CaptureRun::pump(Instant now) {
  if (!status_.running) return;
  const std::vector<TappedPacket> taken = tap_->take(status_.missed);
  for (size_t i = 0; i < taken.size() && status_.running; ++i) {
    write(taken[i]);
    if (failed_) status_.missed += taken.size() - i - 1;
  }
  if (!status_.running) return;
  // Whoever looks now finds in the file what the status says.
  if (const auto r = file_.flush(); !r) {
    end(r.error());
  } else if (ends_ <= now) {
    end("its time is over");
  }
}

void CaptureRun::write(const TappedPacket& p) {
  const uint32_t interface = static_cast<uint32_t>(2 * p.span + (p.side == Side::kWan ? 1 : 0));
  if (const auto r = file_.write(interface, p.at + unix_epoch_, p.bytes, 0, p.comment); !r) {
    end(r.error());
    return;
  }
  count();
  if (status_.packets >= tap_->what().max_packets) end("it has as many packets as were asked for");
  if (status_.running && status_.bytes >= tap_->what().max_bytes) end("it is as large as was asked for");
}

void CaptureRun::stop(Instant now) {
  pump(now);
  if (status_.running) end("stopped");
}

void CaptureRun::end(const std::string& why) {
  status_.running = false;
  const auto closed = file_.close();
  status_.text = closed ? why : closed.error();
  failed_ = !closed;
  count();
  status_.missed += file_.packets_lost();
}

void CaptureRun::count() {
  status_.packets = file_.packets_written();
  status_.bytes = file_.bytes_written();
}

}  // namespace matchrdma::daemon
