#pragma once
// TLS 1.3 with an external pre-shared key, both sides. libssl stands in no header.
#include <memory>
#include <string>

#include "controlplane/tls/stream.h"
#include "dataplane/base/result.h"

namespace matchrdma {

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

/// One identity with its key. A server that has not the key is refused, whatever certificate it shows.
class TlsPskClient {
 public:
  /// Of a file as that of the server. `identity` may be empty where the file holds one line alone.
  static Result<TlsPskClient> load(const std::string& file, const std::string& identity);
  TlsPskClient(TlsPskClient&&) noexcept;
  ~TlsPskClient();

  const std::string& identity() const;
  /// Of a connected socket. nullptr when memory is short. The client must outlive its streams.
  std::unique_ptr<Stream> stream(FileDescriptor fd) const;

 private:
  struct Impl;
  explicit TlsPskClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace matchrdma
