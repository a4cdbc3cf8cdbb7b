#include "dataplane/io/packet_sockets.h"

#include <dirent.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>

namespace matchrdma::io {
namespace {

#ifdef AF_XDP
constexpr int kXdp = AF_XDP;
#else
constexpr int kXdp = 44;
#endif

bool carries_traffic(int fd) {
  int domain = 0;
  socklen_t size = sizeof domain;
  if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0) return domain == AF_PACKET || domain == kXdp;
  std::array<char, 64> target{};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t n = readlink(link.c_str(), target.data(), target.size() - 1);
  return n > 0 && std::string(target.data()) == "/dev/net/tun";
}

}  // namespace

std::set<int> traffic_descriptors() {
  std::set<int> found;
  DIR* const folder = opendir("/proc/self/fd");
  if (folder == nullptr) return found;
  while (const dirent* entry = readdir(folder)) {
    const int fd = std::atoi(entry->d_name);
    if (fd > 2 && carries_traffic(fd)) found.insert(fd);
  }
  closedir(folder);
  return found;
}

std::vector<int> opened_since(const std::set<int>& before) {
  const std::set<int> now = traffic_descriptors();
  std::vector<int> fresh;
  std::set_difference(now.begin(), now.end(), before.begin(), before.end(), std::back_inserter(fresh));
  return fresh;
}

void ignore_own_host(int packet_socket) {
  // The driver's sockets are members of a fanout group, where the option PACKET_IGNORE_OUTGOING has no effect.
  std::array<sock_filter, 4> program{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(SKF_AD_OFF + SKF_AD_PKTTYPE)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, 0),
      BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
  }};
  const sock_fprog filter{.len = program.size(), .filter = program.data()};
  static_cast<void>(setsockopt(packet_socket, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter));
}

void clear_socket_error(int fd) {
  int error = 0;
  socklen_t size = sizeof error;
  static_cast<void>(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size));
}

}  // namespace matchrdma::io
