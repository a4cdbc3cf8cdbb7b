#pragma once
// A made trace that goes into a capture file.
#include "pcap/capture_writer.h"
#include "pcap/make/make_trace.h"

namespace matchrdma {

class CaptureSink final : public PacketSink {
 public:
  explicit CaptureSink(CaptureWriter& writer) : writer_(writer) {}
  Result<void> packet(Instant time, Bytes frame) override { return writer_.write(time, frame); }

 private:
  CaptureWriter& writer_;
};

}  // namespace matchrdma
