#include "proxy/daemon/memory_room.h"

#include <algorithm>
#include <fstream>

namespace matchrdma::daemon {
namespace {

std::optional<uint64_t> available(const std::string& root) {
  std::ifstream info(root + "/proc/meminfo");
  uint64_t kib = 0;
  for (std::string word; info >> word;) {
    if (word == "MemAvailable:" && info >> kib) return kib * 1024;
  }
  return {};
}

// Empty: no such file, or "max".
std::optional<uint64_t> number_in(const std::string& file) {
  std::ifstream in(file);
  uint64_t n = 0;
  if (in >> n) return n;
  return {};
}

/// Path of our cgroup below the mount of version 2, or nothing.
std::optional<std::string> own_cgroup(const std::string& root) {
  std::ifstream in(root + "/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("0::")) return line.substr(3);
  }
  return {};
}

}  // namespace

std::optional<uint64_t> memory_room(const std::string& root) {
  auto room = available(root);
  auto group = own_cgroup(root);
  // Every group above ours has a say.
  while (group) {
    const std::string folder = root + "/sys/fs/cgroup" + *group;
    const auto most = number_in(folder + "/memory.max"), now = number_in(folder + "/memory.current");
    if (most) {
      const uint64_t left = *most - std::min(*most, now.value_or(0));
      room = std::min(room.value_or(left), left);
    }
    if (group->empty() || *group == "/") break;
    group = group->substr(0, group->rfind('/'));
  }
  return room;
}

}  // namespace matchrdma::daemon
