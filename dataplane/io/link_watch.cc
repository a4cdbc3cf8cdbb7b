#include "dataplane/io/link_watch.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace matchrdma::io {
namespace {

template <class T>
bool load(const uint8_t* data, size_t size, T& value) {
  if (size < sizeof value) return false;
  std::memcpy(&value, data, sizeof value);
  return true;
}

}  // namespace

Result<std::unique_ptr<LinkWatch>> LinkWatch::open(const std::string& interface) {
  const uint32_t index = if_nametoindex(interface.c_str());
  if (index == 0) {
    return Error{"interface " + interface + ": " + std::strerror(errno) +
                 "; `ip link` lists the interfaces of this network namespace"};
  }
  const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = RTMGRP_LINK;
  const auto* generic = static_cast<const sockaddr*>(static_cast<const void*>(&address));
  if (fd < 0 || bind(fd, generic, sizeof address) != 0) {
    const int error = errno;
    if (fd >= 0) close(fd);
    return Error{"interface " + interface + ": its link cannot be watched: " + std::strerror(error)};
  }
  std::unique_ptr<LinkWatch> watch(new LinkWatch(interface, index, fd));
  watch->look_again();
  return watch;
}

LinkWatch::~LinkWatch() { close(fd_); }

bool LinkWatch::poll() {
  const InterfaceFlags before = flags_;
  for (;;) {
    const ssize_t n = recv(fd_, buffer_.data(), buffer_.size(), 0);
    if (n > 0) {
      read_message(buffer_.data(), static_cast<size_t>(n));
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    // The kernel had to drop announcements: the state itself is still there to be read.
    if (n < 0 && errno == ENOBUFS) {
      look_again();
      continue;
    }
    break;
  }
  return before.up != flags_.up || before.running != flags_.running;
}

void LinkWatch::read_message(const uint8_t* data, size_t size) {
  for (size_t at = 0; at < size;) {
    nlmsghdr header{};
    if (!load(data + at, size - at, header) || header.nlmsg_len < sizeof header) return;
    ifinfomsg info{};
    const bool link = header.nlmsg_type == RTM_NEWLINK || header.nlmsg_type == RTM_DELLINK;
    if (link && load(data + at + NLMSG_HDRLEN, size - std::min<size_t>(size, at + NLMSG_HDRLEN), info) &&
        static_cast<uint32_t>(info.ifi_index) == index_) {
      gone_ = gone_ || header.nlmsg_type == RTM_DELLINK;
      flags_.up = !gone_ && (info.ifi_flags & IFF_UP) != 0;
      flags_.running = !gone_ && (info.ifi_flags & IFF_RUNNING) != 0;
    }
    at += NLMSG_ALIGN(header.nlmsg_len);
  }
}

void LinkWatch::look_again() {
  gone_ = gone_ || if_nametoindex(interface_.c_str()) != index_;
  const auto flags = interface_flags(interface_);
  flags_ = flags && !gone_ ? *flags : InterfaceFlags{};
}

}  // namespace matchrdma::io
