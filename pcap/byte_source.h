#pragma once
// A forward-only window on a file, on stdin or on bytes in memory.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dataplane/base/bytes.h"
#include "dataplane/base/result.h"

namespace matchrdma {

/// Duty: the next n bytes, contiguous, out of a buffer of fixed size. Knows nothing of capture formats.
class ByteSource {
 public:
  /// Most that one peek() may ask for.
  static constexpr size_t kMaxPeek = size_t{1} << 20;

  /// Opens a file; "-" is stdin.
  static Result<ByteSource> open(const std::string& path);
  /// Borrows `bytes`, which must outlive the source.
  static ByteSource from_bytes(Bytes bytes);

  ByteSource(ByteSource&& o) noexcept;
  ByteSource& operator=(ByteSource&& o) noexcept;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  ~ByteSource();

  /// The next n bytes (n <= kMaxPeek), or all that are left when these are fewer. Valid until the next
  /// peek() or skip().
  Bytes peek(size_t n);
  /// Moves behind n bytes that a peek() has shown.
  void advance(size_t n);
  /// Moves up to n bytes further; fewer only at the end. Returns how many.
  uint64_t skip(uint64_t n);

  /// Bytes consumed so far.
  uint64_t offset() const { return offset_; }
  /// Text of a failed read (the source then acts as if it ended); empty while all is well.
  const std::string& read_error() const { return read_error_; }

 private:
  /// Most that one read takes: what has come stays in a cache near the core until it is used.
  static constexpr size_t kRead = size_t{128} << 10;

  ByteSource() = default;
  void refill();
  void close_file();

  int fd_ = -1;  // -1: bytes in memory, or a file that has been read to its end
  bool owns_fd_ = false;
  std::vector<uint8_t> buffer_;
  Bytes view_;  // unread bytes: inside buffer_, or of the borrowed bytes
  uint64_t offset_ = 0;
  std::string read_error_;
};

}  // namespace matchrdma
