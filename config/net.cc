#include "config/net.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <string_view>

#include "dataplane/base/hex.h"
#include "dataplane/base/ip_text.h"

namespace matchrdma {
namespace {

constexpr int kMappedBits = 96;  // an IPv4 address stands behind this many bits of an IpAddress

int bits_before(const IpAddress& a) { return a.is_v4() ? kMappedBits : 0; }
unsigned family_bits(const IpAddress& a) { return a.is_v4() ? 32 : 128; }

IpAddress masked(IpAddress a, int bits) {
  for (int i = 0; i < 16; ++i) {
    const int kept = bits - 8 * i;
    if (kept <= 0) a.b[static_cast<size_t>(i)] = 0;
    if (kept > 0 && kept < 8) a.b[static_cast<size_t>(i)] &= static_cast<uint8_t>(0xff00 >> kept);
  }
  return a;
}

std::optional<unsigned> number(std::string_view text, unsigned most) {
  unsigned n = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (ec != std::errc{} || end != text.data() + text.size() || n > most) return std::nullopt;
  return n;
}

struct Slashed {
  IpAddress address;
  std::optional<unsigned> bits;
};

/// "address" or "address/bits".
std::optional<Slashed> split(const std::string& text) {
  const size_t slash = text.find('/');
  const auto address = parse_address(text.substr(0, slash));
  if (!address) return std::nullopt;
  if (slash == std::string::npos) return Slashed{*address, std::nullopt};
  const auto bits = number(std::string_view(text).substr(slash + 1), family_bits(*address));
  if (!bits) return std::nullopt;
  return Slashed{*address, bits};
}

}  // namespace

bool Prefix::contains(const IpAddress& a) const {
  if (a.is_v4() != address.is_v4()) return false;
  return masked(a, bits_before(address) + bits) == address;
}

IpAddress Prefix::last() const {
  IpAddress a = address;
  const int kept = bits_before(address) + bits;
  for (int i = 0; i < 16; ++i)
    a.b[static_cast<size_t>(i)] |= static_cast<uint8_t>(0xff >> std::clamp(kept - 8 * i, 0, 8));
  return a;
}

bool Prefix::covers(const Prefix& other) const { return bits <= other.bits && contains(other.address); }

Prefix InterfaceAddress::link() const { return {masked(address, bits_before(address) + bits), bits}; }

std::string why_no_host(const IpAddress& a) {
  if (!a.is_v4()) {
    if (a == IpAddress{}) return "unspecified";
    IpAddress loopback;
    loopback.b.back() = 1;
    return a == loopback ? "loopback" : a.b[0] == 0xff ? "multicast" : "";
  }
  const uint8_t first = a.b[12];
  const auto all = [&](uint8_t byte) {
    return std::all_of(a.b.begin() + 12, a.b.end(), [&](uint8_t b) { return b == byte; });
  };
  if (all(0)) return "unspecified";
  if (all(255)) return "broadcast";
  if (first == 127) return "loopback";
  if (first >= 224 && first < 240) return "multicast";
  return first == 0 || first >= 240 ? "reserved" : "";
}

Result<IpAddress> parse_address(const std::string& text) {
  if (const auto address = ip_from_text(text)) return *address;
  return Error{"not an address; write an IPv4 or IPv6 address like 192.0.2.1 or 2001:db8::1"};
}

Result<Prefix> parse_prefix(const std::string& text) {
  const auto s = split(text);
  if (!s) return Error{"not a prefix; write it like 10.1.0.0/16 or 2001:db8::/32, or write one address"};
  const auto bits = static_cast<uint8_t>(s->bits.value_or(family_bits(s->address)));
  const Prefix p{masked(s->address, bits_before(s->address) + bits), bits};
  if (p.address != s->address)
    return Error{"bits are set behind the prefix; write " + to_text(p) + ", or a longer prefix"};
  return p;
}

Result<InterfaceAddress> parse_interface_address(const std::string& text) {
  const auto s = split(text);
  if (!s) return Error{"not an address with its prefix; write it like 192.0.2.1/30 or 2001:db8::1/64"};
  if (!s->bits)
    return Error{"the length of the link's prefix is missing; write it like " + text +
                 (s->address.is_v4() ? "/30" : "/64")};
  return InterfaceAddress{s->address, static_cast<uint8_t>(*s->bits)};
}

Result<Endpoint> parse_endpoint(const std::string& text) {
  const Error wrong{"not an address with a port; write it like 127.0.0.1:9464 or [::1]:9464"};
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return wrong;
  std::string host = text.substr(0, colon);
  const bool bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  const auto address = parse_address(host);
  const auto port = number(std::string_view(text).substr(colon + 1), 65535);
  if (!address || bracketed != (host.find(':') != std::string::npos) || !port || *port == 0) return wrong;
  return Endpoint{*address, static_cast<uint16_t>(*port)};
}

Result<MacAddress> parse_mac(const std::string& text) {
  const Error wrong{"not a MAC address; write it like 02:00:00:00:00:0b"};
  if (text.size() != 17) return wrong;
  MacAddress m;
  for (size_t i = 0; i < 6; ++i) {
    const size_t at = 3 * i;
    if (!decode_hex(std::string_view(text).substr(at, 2), {&m.b[i], 1}) || (i < 5 && text[at + 2] != ':'))
      return wrong;
  }
  return m;
}

std::string to_text(const IpAddress& a) { return ip_text(a); }

std::string to_text(const Prefix& p) { return to_text(p.address) + "/" + std::to_string(p.bits); }

std::string to_text(const InterfaceAddress& a) { return to_text(a.address) + "/" + std::to_string(a.bits); }

std::string to_text(const Endpoint& e) {
  const std::string host = to_text(e.address);
  return (e.address.is_v4() ? host : "[" + host + "]") + ":" + std::to_string(e.port);
}

std::string to_text(const MacAddress& m) {
  std::string text;
  for (const uint8_t byte : m.b) {
    std::array<char, 4> two{};
    std::snprintf(two.data(), two.size(), text.empty() ? "%02x" : ":%02x", byte);
    text += two.data();
  }
  return text;
}

}  // namespace matchrdma
