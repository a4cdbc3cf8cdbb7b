#pragma once
// Writes pcapng: where a packet was seen and why it is in the file stand beside it.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/base/bytes.h"
#include "dataplane/base/result.h"
#include "dataplane/base/time.h"

namespace matchrdma {

/// Duty: one pcapng file of one section, times in nanoseconds. A file that exists is never overwritten. It is
/// complete only when flush() or close() said so; after an error, of a full disk say, it is closed and holds
/// whole packets only. Does not know when a capture is to end.
class PcapngWriter {
 public:
  /// Creates the file. `interfaces` are the names that write() counts, from 0.
  static Result<PcapngWriter> open(const std::string& path, std::span<const std::string> interfaces);

  /// `time` since 1970. `original_length` 0 means data.size(). `comment` may be empty. After an error every
  /// further call returns that error.
  Result<void> write(uint32_t interface, Instant time, Bytes data, uint32_t original_length = 0,
                     std::string_view comment = {});
  /// All that was given to write() is in the file.
  Result<void> flush();
  Result<void> close();

  /// Given to write(); after an error, what of it is in the file.
  uint64_t packets_written() const { return packets_; }
  uint64_t bytes_written() const { return bytes_; }
  /// Given to write(), and not in the file because of the error.
  uint64_t packets_lost() const { return lost_; }
  const std::string& name() const { return name_; }

 private:
  struct Closer {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  PcapngWriter(std::string name, std::FILE* f, size_t interfaces)
      : name_(std::move(name)), file_(f), interfaces_(interfaces) {}
  Result<void> put_block(uint32_t type);
  Result<void> write_out();
  Result<void> failed(const std::string& what);

  std::string name_;
  std::unique_ptr<std::FILE, Closer> file_;
  size_t interfaces_;
  std::vector<uint8_t> body_;     ///< of the block being made
  std::vector<uint8_t> pending_;  ///< whole blocks that the file does not have yet
  std::string error_;
  uint64_t packets_ = 0, bytes_ = 0, lost_ = 0;
  uint64_t packets_pending_ = 0;  ///< of these, in `pending_`
};

}  // namespace matchrdma
