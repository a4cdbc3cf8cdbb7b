#pragma once
// Keeps a second process off a device that this one forwards on. No DPDK.
#include <string>

#include "dataplane/base/result.h"

namespace matchrdma::io {

/// Duty: holds one device, by its name, for as long as it lives; the kernel gives it back when the process
/// dies, however it dies. Holds within one network namespace, where names of interfaces mean something (an
/// abstract Unix socket, unix(7)). Does not know ports.
class DeviceClaim {
 public:
  /// Fails where another process, or another port of this one, has it.
  static Result<DeviceClaim> take(const std::string& device);
  ~DeviceClaim();
  DeviceClaim(DeviceClaim&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  DeviceClaim& operator=(DeviceClaim&&) = delete;

 private:
  explicit DeviceClaim(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace matchrdma::io
