#pragma once
// Writes classic pcap with nanosecond times and link type Ethernet.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "dataplane/base/bytes.h"
#include "dataplane/base/result.h"
#include "dataplane/base/time.h"

namespace matchrdma {

/// Duty: one capture file. A file is complete only when close() said so: a full disk shows at the flush.
class CaptureWriter {
 public:
  /// Creates or truncates the file and writes its header; "-" is stdout.
  static Result<CaptureWriter> open(const std::string& path);

  /// `time` must lie in [1970, 2106). `original_length` 0 means data.size(). After an error every further call
  /// returns that error.
  Result<void> write(Instant time, Bytes data, uint32_t original_length = 0);
  Result<void> flush();
  /// Flushes and closes. Without it the destructor closes, and nobody learns of a failure.
  Result<void> close();

  uint64_t packets_written() const { return packets_; }
  const std::string& name() const { return name_; }

 private:
  struct Closer {
    void operator()(std::FILE* f) const {
      if (f != stdout) std::fclose(f);
    }
  };
  CaptureWriter(std::string name, std::FILE* f) : name_(std::move(name)), file_(f) {}
  Result<void> put(Bytes bytes);
  Result<void> failed(const std::string& what);

  std::string name_;
  std::unique_ptr<std::FILE, Closer> file_;
  std::string error_;
  uint64_t packets_ = 0;
};

}  // namespace matchrdma
