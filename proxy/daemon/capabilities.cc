#include "proxy/daemon/capabilities.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace matchrdma {

// capget(2) and capset(2) have no wrapper in the C library.
Result<void> raise_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
  if (::syscall(SYS_capget, &header, sets.data()) != 0)
    return Error{std::string("the capabilities of this process cannot be read: ") + std::strerror(errno)};
  bool change = false;
  for (auto& s : sets) {
    change = change || s.effective != s.permitted;
    s.effective = s.permitted;
  }
  if (!change || ::syscall(SYS_capset, &header, sets.data()) == 0) return {};
  return Error{std::string("the capabilities of this process cannot be raised: ") + std::strerror(errno)};
}

}  // namespace matchrdma
