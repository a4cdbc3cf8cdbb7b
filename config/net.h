#pragma once
// Addresses as an operator writes them. Text in, strong types out, and back.
#include <array>
#include <cstdint>
#include <string>

#include "dataplane/base/result.h"
#include "dataplane/base/types.h"

namespace matchrdma {

/// 10.1.0.0/16, 2001:db8::/32, or one address. `bits` counts in the family of the address: 0..32 or 0..128.
struct Prefix {
  IpAddress address;  ///< no bit set behind the prefix
  uint8_t bits = 0;
  bool operator==(const Prefix&) const = default;
  bool contains(const IpAddress& a) const;
  IpAddress last() const;
  /// Every address of `other` is one of ours.
  bool covers(const Prefix& other) const;
};

/// An address on a link, with the length of the link's prefix: 192.0.2.1/30.
struct InterfaceAddress {
  IpAddress address;
  uint8_t bits = 0;
  bool operator==(const InterfaceAddress&) const = default;
  Prefix link() const;
};

/// 127.0.0.1:9464, [::1]:9464
struct Endpoint {
  IpAddress address;
  uint16_t port = 0;
  bool operator==(const Endpoint&) const = default;
};

struct MacAddress {
  std::array<uint8_t, 6> b{};
  bool operator==(const MacAddress&) const = default;
};

/// Why no single host can have this address: "multicast", "loopback", ...; empty where one can.
std::string why_no_host(const IpAddress& a);

/// Each error is a sentence without the text itself: "not an address; write ...".
Result<IpAddress> parse_address(const std::string& text);
/// Bits set behind the prefix are an error that proposes the prefix that was probably meant.
Result<Prefix> parse_prefix(const std::string& text);
Result<InterfaceAddress> parse_interface_address(const std::string& text);
Result<Endpoint> parse_endpoint(const std::string& text);
Result<MacAddress> parse_mac(const std::string& text);

std::string to_text(const IpAddress& a);
std::string to_text(const Prefix& p);
std::string to_text(const InterfaceAddress& a);
std::string to_text(const Endpoint& e);
std::string to_text(const MacAddress& m);

}  // namespace matchrdma
