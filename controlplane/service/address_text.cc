#include "controlplane/service/address_text.h"

#include <arpa/inet.h>

#include <array>

namespace matchrdma::service {

std::string ip_text(const IpAddress& a) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (a.is_v4()) {
    inet_ntop(AF_INET, a.b.data() + 12, text.data(), text.size());
  } else {
    inet_ntop(AF_INET6, a.b.data(), text.data(), text.size());
  }
  return text.data();
}

std::optional<IpAddress> ip_from_text(const std::string& text) {
  std::array<uint8_t, 16> b{};
  if (inet_pton(AF_INET, text.c_str(), b.data()) == 1) return IpAddress::v4(b.data());
  if (inet_pton(AF_INET6, text.c_str(), b.data()) == 1) return IpAddress::v6(b.data());
  return std::nullopt;
}

}  // namespace matchrdma::service
