#include "dataplane/io/kernel_interface.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace matchrdma::io {
namespace {

/// One ioctl about one interface, whose name is written into `ifr`. 0, or what is wrong (errno(3)).
int try_to(const std::string& name, unsigned long request, ifreq& ifr) {
  if (name.empty() || name.size() >= IFNAMSIZ) return ENAMETOOLONG;
  std::memcpy(ifr.ifr_name, name.c_str(), name.size() + 1);
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const int failed = fd < 0 ? -1 : ioctl(fd, request, &ifr);
  const int error = failed == 0 ? 0 : errno;
  if (fd >= 0) close(fd);
  return error;
}

Error refused(const std::string& name, const char* what, int error) {
  std::string remedy;
  if (error == ENAMETOOLONG) remedy = "; a name has 1 to " + std::to_string(IFNAMSIZ - 1) + " characters";
  if (error == ENODEV) remedy = "; `ip link` lists the interfaces of this network namespace";
  if (error == EPERM || error == EACCES) remedy = "; run as root or with the capability NET_ADMIN";
  return Error{"interface " + name + ": " + what + ": " + std::strerror(error) + remedy};
}

Result<ifreq> ask(const std::string& name, unsigned long request, ifreq ifr, const char* what) {
  if (const int error = try_to(name, request, ifr); error != 0) return refused(name, what, error);
  return ifr;
}

/// Clears `bit` of a number that ethtool(8) keeps, if the interface keeps such a number.
Result<void> clear_feature(const std::string& name, uint32_t get, uint32_t set, uint32_t bit,
                           const char* what) {
  ethtool_value value{get, 0};
  ifreq ifr{};
  ifr.ifr_data = reinterpret_cast<char*>(&value);
  int error = try_to(name, SIOCETHTOOL, ifr);
  if (error == EOPNOTSUPP) return {};
  if (error == 0 && (value.data & bit) != 0) {
    value = {set, value.data & ~bit};
    error = try_to(name, SIOCETHTOOL, ifr);
  }
  if (error != 0) return refused(name, what, error);
  return {};
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

Result<void> stop_receive_merging(const std::string& name) {
  constexpr uint32_t kOn = 1;
  if (auto r = clear_feature(name, ETHTOOL_GGRO, ETHTOOL_SGRO, kOn, "GRO cannot be switched off"); !r) return r;
  return clear_feature(name, ETHTOOL_GFLAGS, ETHTOOL_SFLAGS, ETH_FLAG_LRO, "LRO cannot be switched off");
}

}  // namespace matchrdma::io
