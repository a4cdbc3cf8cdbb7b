#pragma once
#include "dataplane/base/bytes.h"

namespace matchrdma::host {

/// The TCP way of an engine, given by the caller: whole frames, in order, or the pipe ends.
class MessagePipe {
 public:
  virtual ~MessagePipe() = default;
  /// False, and nothing was taken: no room now. A frame is at most kChannelFrameBytes + fragment_bytes long.
  virtual bool write(Bytes frame) = 0;
};

}  // namespace matchrdma::host
