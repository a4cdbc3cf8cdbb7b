#pragma once
// TLS 1.3 with an external pre-shared key, server side. libssl stands in no header.
#include <memory>
#include <string>

#include "controlplane/service/stream.h"
#include "dataplane/base/result.h"

namespace matchrdma::service {

/// Keys by identity, and what every connection shares. No certificate: who has no key gets no further, and is
/// not told whether identity or key was wrong.
class TlsPskServer {
 public:
  /// Of a file with mode 0600 or less; lines "IDENTITY HEXKEY", # starts a comment.
  static Result<TlsPskServer> load(const std::string& file);
  TlsPskServer(TlsPskServer&&) noexcept;
  ~TlsPskServer();

  /// nullptr when memory is short. The server must outlive its streams.
  std::unique_ptr<Stream> stream(FileDescriptor fd) const;

 private:
  struct Impl;
  explicit TlsPskServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace matchrdma::service
