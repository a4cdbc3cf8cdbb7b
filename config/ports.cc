#include "config/ports.h"

#include <algorithm>
#include <string_view>

namespace matchrdma {
namespace {

bool is_hex(std::string_view s) {
  return std::all_of(s.begin(), s.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  });
}

/// bb:dd.f
bool is_short_pci(std::string_view s) {
  return s.size() == 7 && s[2] == ':' && s[5] == '.' && is_hex(s.substr(0, 2)) && is_hex(s.substr(3, 2)) &&
         s[6] >= '0' && s[6] <= '7';
}

/// dddd:bb:dd.f
bool is_pci(std::string_view s) {
  return s.size() == 12 && s[4] == ':' && is_hex(s.substr(0, 4)) && is_short_pci(s.substr(5));
}

bool is_vdev(std::string_view s) {
  if (!s.starts_with("net_") && !s.starts_with("virtio_user")) return false;
  return std::all_of(s.begin(), s.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

/// What stands on an interface of the kernel must name one, as the kernel could call it (IFNAMSIZ).
Result<void> check_interface(const std::string& device, const std::string& arguments) {
  constexpr size_t kLongestName = 15;
  const std::string interface = port_interface(device + arguments);
  if (interface.size() > kLongestName)
    return Error{"the interface " + interface +
                 " has more than 15 characters, which no interface of Linux has"};
  if (interface.empty() && (device.starts_with("net_af_packet") || device.starts_with("net_af_xdp")))
    return Error{"needs an interface of the kernel; write " + device + ",iface=NAME"};
  return {};
}

}  // namespace

Result<std::string> parse_port(const std::string& text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
  std::string device = port_device(text);
  const std::string arguments = text.substr(std::min(text.find(','), text.size()));
  std::transform(device.begin(), device.end(), device.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (plain && text.size() < 1024) {
    if (is_short_pci(device)) return "0000:" + device + arguments;
    if (is_pci(device)) return device + arguments;
    if (is_vdev(device)) {
      if (auto r = check_interface(device, arguments); !r) return Error{r.error()};
      return device + arguments;
    }
  }
  return Error{
      "not a port; write a PCI address like 0000:3b:00.0, or a vdev like net_af_packet0,iface=eth1 (its name "
      "begins "
      "with net_ or virtio_user)"};
}

std::string port_device(const std::string& port) { return port.substr(0, port.find(',')); }

std::string port_interface(const std::string& port) {
  constexpr std::string_view kIface = ",iface=";
  const size_t at = port.find(kIface);
  if (at == std::string::npos) return "";
  const size_t from = at + kIface.size();
  return port.substr(from, port.find(',', from) - from);
}

}  // namespace matchrdma
