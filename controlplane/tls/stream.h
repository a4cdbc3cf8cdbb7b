#pragma once
// A connection as bytes that come and go; none of these calls waits.
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "controlplane/tls/file_descriptor.h"

namespace matchrdma {

/// What became of one attempt. `bytes` counts only with kMoved.
struct Moved {
  enum class Kind : uint8_t {
    kMoved,
    kWait,    ///< nothing now; poll again
    kClosed,  ///< the other side is gone, or did what it may not
  };
  Kind kind = Kind::kWait;
  size_t bytes = 0;
};

/// Duty: moves bytes. Knows nothing of lines or commands.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual int fd() const = 0;
  virtual Moved read(std::span<char> into) = 0;
  virtual Moved write(std::string_view from) = 0;
  /// Bytes were taken from the socket and not read yet: poll() does not know of them.
  virtual bool buffered() const { return false; }
  /// poll() events it needs besides those the user of the stream wants.
  virtual short also_wants() const { return 0; }
  /// Of a stream that closed before it was trusted: what the other side did, to stand behind "the other end".
  virtual std::string_view why() const { return {}; }
  /// Both sides have shown who they are.
  virtual bool trusted() const { return true; }
};

/// A plain socket, non-blocking.
std::unique_ptr<Stream> plain_stream(FileDescriptor fd);

}  // namespace matchrdma
