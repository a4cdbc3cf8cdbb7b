#include "dataplane/base/ip_text.h"

#include <arpa/inet.h>

#include <array>

namespace matchrdma {

std::string ip_text(const IpAddress& a) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  constexpr size_t kMapped = 12;  // bytes before an IPv4 address
  inet_ntop(a.is_v4() ? AF_INET : AF_INET6, a.b.data() + (a.is_v4() ? kMapped : 0), text.data(), text.size());
  return text.data();
}

std::optional<IpAddress> ip_from_text(const std::string& text) {
  // inet_pton reads a C string: what stands behind a zero byte must not be lost.
  if (text.find('\0') != std::string::npos) return std::nullopt;
  std::array<uint8_t, 16> b{};
  if (inet_pton(AF_INET, text.c_str(), b.data()) == 1) return IpAddress::v4(b.data());
  if (inet_pton(AF_INET6, text.c_str(), b.data()) == 1) return IpAddress::v6(b.data());
  return std::nullopt;
}

}  // namespace matchrdma
