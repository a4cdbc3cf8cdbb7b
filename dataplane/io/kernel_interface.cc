#include "dataplane/io/kernel_interface.h"

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace matchrdma::io {
namespace {

/// One ioctl about one interface.
Result<ifreq> ask(const std::string& name, unsigned long request, ifreq ifr, const char* what) {
  if (name.empty() || name.size() >= IFNAMSIZ)
    return Error{"interface '" + name + "': a name has 1 to " + std::to_string(IFNAMSIZ - 1) + " characters"};
  std::memcpy(ifr.ifr_name, name.c_str(), name.size() + 1);
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const int failed = fd < 0 ? -1 : ioctl(fd, request, &ifr);
  const int error = errno;
  if (fd >= 0) close(fd);
  if (failed == 0) return ifr;
  std::string remedy;
  if (error == ENODEV) remedy = "; `ip link` lists the interfaces of this network namespace";
  if (error == EPERM || error == EACCES) remedy = "; run as root or with the capability NET_ADMIN";
  return Error{"interface " + name + ": " + what + ": " + std::strerror(error) + remedy};
}

}  // namespace

Result<InterfaceFlags> interface_flags(const std::string& name) {
  auto r = ask(name, SIOCGIFFLAGS, {}, "cannot be looked at");
  if (!r) return Error{r.error()};
  return InterfaceFlags{.up = (r->ifr_flags & IFF_UP) != 0, .running = (r->ifr_flags & IFF_RUNNING) != 0};
}

Result<void> switch_interface(const std::string& name, bool up) {
  const char* what = up ? "cannot be switched on" : "cannot be switched off";
  auto r = ask(name, SIOCGIFFLAGS, {}, what);
  if (!r) return Error{r.error()};
  r->ifr_flags = static_cast<short>(up ? r->ifr_flags | IFF_UP : r->ifr_flags & ~IFF_UP);
  if (auto set = ask(name, SIOCSIFFLAGS, *r, what); !set) return Error{set.error()};
  return {};
}

Result<uint32_t> interface_mtu(const std::string& name) {
  auto r = ask(name, SIOCGIFMTU, {}, "its MTU cannot be read");
  if (!r) return Error{r.error()};
  return static_cast<uint32_t>(r->ifr_mtu);
}

Result<void> set_interface_mtu(const std::string& name, uint32_t mtu) {
  ifreq ifr{};
  ifr.ifr_mtu = static_cast<int>(mtu);
  const std::string what = "MTU " + std::to_string(mtu) + " cannot be set";
  if (auto r = ask(name, SIOCSIFMTU, ifr, what.c_str()); !r) return Error{r.error()};
  return {};
}

}  // namespace matchrdma::io
