#pragma once
// Reads captures of Ethernet frames: classic pcap (both byte orders, micro- and nanoseconds) and pcapng.
//
//   auto reader = CaptureReader::open(path);            // "-" is stdin
//   if (!reader) die(reader.error());
//   CapturedPacket p;
//   while (reader->next(p) == ReadStatus::kPacket) use(p);
//   if (reader->status() != ReadStatus::kEnd) say(reader->message());   // kCutOff: what was read is good
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "dataplane/base/bytes.h"
#include "dataplane/base/result.h"
#include "dataplane/base/time.h"
#include "pcap/capture_format.h"

namespace matchrdma {

/// What tells a capture from other files.
inline constexpr size_t kCaptureMagicBytes = 4;
/// `file`: its beginning, so many bytes or more.
bool begins_as_capture(Bytes file);

/// Duty: the packets of one capture in file order, streamed: memory stays at about 1 MiB whatever the file
/// says. Does not know what is inside a packet.
class CaptureReader {
 public:
  /// Opens the file and reads its header. The error names the file, what was found and what to do.
  static Result<CaptureReader> open(const std::string& path);
  /// The same for a capture in memory, which must outlive the reader; `name` stands for the file in messages.
  static Result<CaptureReader> from_bytes(Bytes bytes, const std::string& name);

  /// The next packet. `out.data` is valid until the next call. Once it is not kPacket it stays what it is.
  ReadStatus next(CapturedPacket& out);

  ReadStatus status() const { return cursor_.status; }
  /// The sentence for kCutOff and kError; empty otherwise.
  const std::string& message() const { return cursor_.message; }
  uint64_t packets_read() const { return cursor_.packets; }
  /// Bytes of the file consumed so far, for a progress bar.
  uint64_t bytes_read() const { return cursor_.source.offset(); }
  const std::string& name() const { return cursor_.name; }

 private:
  explicit CaptureReader(CaptureCursor cursor) : cursor_(std::move(cursor)) {}
  static Result<CaptureReader> start(CaptureCursor cursor);

  CaptureCursor cursor_;
  std::variant<ClassicPcap, Pcapng> format_;
};

}  // namespace matchrdma
