#pragma once
#include <fstream>
#include <string>

namespace matchrdma {

/// Changes whenever the machine starts; empty where the kernel does not tell.
inline std::string boot_id() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return id.substr(0, 40);
}

}  // namespace matchrdma
