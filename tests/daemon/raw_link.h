#pragma once
// One interface of the kernel as whole Ethernet frames, for the hosts of these tests.
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "controlplane/tls/file_descriptor.h"
#include "dataplane/base/bytes.h"
#include "dataplane/base/result.h"

namespace matchrdma::daemon_tests {

/// Duty: frames in, frames out, without waiting. Frames that this machine itself sends there are not seen.
class RawLink {
 public:
  static Result<std::unique_ptr<RawLink>> open(const std::string& interface) {
    FileDescriptor fd(::socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, htons(ETH_P_ALL)));
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = static_cast<int>(if_nametoindex(interface.c_str()));
    packet_mreq all{};
    all.mr_ifindex = address.sll_ifindex;
    all.mr_type = PACKET_MR_PROMISC;
    const int one = 1, room = 64 << 20;
    if (fd.get() < 0 || address.sll_ifindex == 0 ||
        setsockopt(fd.get(), SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof one) != 0 ||
        setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) != 0 ||
        setsockopt(fd.get(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof all) != 0 ||
        ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      return Error{"interface " + interface + ": " + std::strerror(errno)};
    return std::unique_ptr<RawLink>(new RawLink(std::move(fd)));
  }

  /// The next frame that has come, valid until the next call; empty when there is none.
  Bytes receive() {
    const ssize_t n = ::recv(fd_.get(), buffer_.data(), buffer_.size(), 0);
    return n > 0 ? Bytes(buffer_).first(static_cast<size_t>(n)) : Bytes{};
  }
  /// False when there is no room just now. A link that is down swallows what it is given, as a cable does.
  bool send(Bytes frame) {
    return ::send(fd_.get(), frame.data(), frame.size(), 0) >= 0 || (errno != EAGAIN && errno != ENOBUFS);
  }
  pollfd readable() const { return {fd_.get(), POLLIN, 0}; }

 private:
  explicit RawLink(FileDescriptor fd) : fd_(std::move(fd)) {}
  FileDescriptor fd_;
  std::array<uint8_t, 16384> buffer_{};
};

}  // namespace matchrdma::daemon_tests
