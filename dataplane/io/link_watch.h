#pragma once
// Link state of kernel interfaces, as the kernel announces it. No DPDK.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dataplane/base/result.h"
#include "dataplane/io/kernel_interface.h"

namespace matchrdma::io {

/// Duty: keeps the flags of one interface up to date by reading the kernel's announcements (rtnetlink). Never
/// waits. Does not know ports.
class LinkWatch {
 public:
  static Result<std::unique_ptr<LinkWatch>> open(const std::string& interface);
  ~LinkWatch();
  LinkWatch(const LinkWatch&) = delete;
  LinkWatch& operator=(const LinkWatch&) = delete;

  /// Reads what was announced since the last call; true when the flags have changed. An interface that was
  /// removed is down for good: another one of the same name is not the one that was opened.
  bool poll();
  InterfaceFlags flags() const { return flags_; }
  bool gone() const { return gone_; }
  /// Readable when there is something to poll().
  int fd() const { return fd_; }

 private:
  /// One announcement of a link with all its attributes; larger ones are cut off by the kernel behind what is
  /// read here.
  static constexpr size_t kMessageBytes = 32768;

  LinkWatch(std::string interface, uint32_t index, int fd)
      : interface_(std::move(interface)), index_(index), fd_(fd), buffer_(kMessageBytes) {}
  void read_message(const uint8_t* data, size_t size);
  void look_again();

  std::string interface_;
  uint32_t index_;
  int fd_;
  InterfaceFlags flags_;
  bool gone_ = false;
  std::vector<uint8_t> buffer_;  ///< one announcement
};

}  // namespace matchrdma::io
