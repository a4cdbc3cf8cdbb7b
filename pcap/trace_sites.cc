#include "pcap/trace_sites.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "dataplane/base/ip_text.h"
#include "pcap/trace_info.h"

namespace matchrdma {
namespace {

std::pair<IpAddress, IpAddress> sorted(const IpAddress& a, const IpAddress& b) {
  return a < b ? std::pair{a, b} : std::pair{b, a};
}

/// Source and destination of any IP packet, RoCE or not; reads nothing but the fixed header.
std::optional<std::pair<IpAddress, IpAddress>> ip_addresses(Bytes p) {
  size_t type_at = 12;
  for (int tags = 0; tags < 2 && p.size() >= type_at + 2; ++tags) {
    const uint16_t type = load_be16(p.data() + type_at);
    if (type != 0x8100 && type != 0x88a8 && type != 0x9100) break;
    type_at += 4;
  }
  if (p.size() < type_at + 2) return std::nullopt;
  const uint16_t type = load_be16(p.data() + type_at);
  const uint8_t* l3 = p.data() + type_at + 2;
  const size_t room = p.size() - type_at - 2;
  if (type == 0x0800 && room >= 20) return std::pair{IpAddress::v4(l3 + 12), IpAddress::v4(l3 + 16)};
  if (type == 0x86dd && room >= 40) return std::pair{IpAddress::v6(l3 + 8), IpAddress::v6(l3 + 24)};
  return std::nullopt;
}

std::array<uint8_t, 6> mac_at(Bytes p, size_t offset) {
  std::array<uint8_t, 6> mac{};
  if (p.size() >= offset + 6) std::memcpy(mac.data(), p.data() + offset, 6);
  return mac;
}

std::string mac_text(const std::array<uint8_t, 6>& m) {
  char text[18];
  std::snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5]);
  return text;
}

}  // namespace

bool Cidr::contains(const IpAddress& a) const {
  for (int i = 0; i < bits; i += 8) {
    const int n = std::min(8, bits - i);
    const auto mask = static_cast<uint8_t>(0xff << (8 - n));
    if ((a.b[static_cast<size_t>(i / 8)] & mask) != (address.b[static_cast<size_t>(i / 8)] & mask))
      return false;
  }
  return true;
}

Result<Cidr> Cidr::parse(const std::string& text) {
  const Error bad{"--site-a " + text +
                  ": not an address block; write it like 10.9.0.0/24, fd09::/64 or 10.9.0.1"};
  const size_t slash = text.find('/');
  const auto address = ip_from_text(text.substr(0, slash));
  if (!address) return bad;
  Cidr c;
  c.address = *address;
  const int width = address->is_v4() ? 32 : 128;
  int length = width;
  if (slash != std::string::npos) {
    const char* end = text.data() + text.size();
    const auto [p, ec] = std::from_chars(text.data() + slash + 1, end, length);
    if (ec != std::errc{} || p != end || length < 0 || length > width) return bad;
  }
  c.bits = 128 - width + length;
  return c;
}

int TraceSites::host_of(const IpAddress& ip) {
  const auto [it, fresh] = ip_hosts_.try_emplace(ip, static_cast<int>(hosts_.size()));
  if (fresh) hosts_.push_back({ip_text(ip), 0});
  return it->second;
}

void TraceSites::learn(Bytes packet, const ParseResult& parsed) {
  MacFacts& mac = macs_[mac_at(packet, 6)];
  const auto ip = ip_addresses(packet);
  if (!ip) {
    ++mac.foreign_packets;
    return;
  }
  if (!mac.first_ip) mac.first_ip = ip;
  ++hosts_[static_cast<size_t>(host_of(ip->first))].packets;
  if (parsed.kind != ParseKind::kRoce || parsed.reason != Reason::kNone) return;
  const OpcodeInfo& info = parsed.frame.info();
  const IpPair pair = sorted(ip->first, ip->second);
  if (info.request) {
    a_of_pair_.try_emplace(pair, ip->first);
  } else {
    answerer_of_pair_.try_emplace(pair, ip->first);
  }
}

void TraceSites::resolve() {
  for (auto& [mac, facts] : macs_) {
    if (facts.first_ip) {
      facts.host = host_of(facts.first_ip->first);
      facts.site = site_of(facts.first_ip->first, facts.first_ip->second);
    } else {
      facts.host = static_cast<int>(hosts_.size());
      hosts_.push_back({mac_text(mac), 0});
    }
    hosts_[static_cast<size_t>(facts.host)].packets += facts.foreign_packets;
  }
}

Site TraceSites::site_of(const IpAddress& from, const IpAddress& to) const {
  if (site_a_) return site_a_->contains(from) ? 0 : 1;
  const IpPair pair = sorted(from, to);
  if (const auto it = a_of_pair_.find(pair); it != a_of_pair_.end()) return it->second == from ? 0 : 1;
  if (const auto it = answerer_of_pair_.find(pair); it != answerer_of_pair_.end())
    return it->second == from ? 1 : 0;
  // Neither speaks RoCE with the other: it stands where it stands towards others.
  for (const auto& [p, a] : a_of_pair_)
    if (p.first == from || p.second == from) return a == from ? 0 : 1;
  for (const auto& [p, a] : a_of_pair_)
    if (p.first == to || p.second == to) return a == to ? 1 : 0;
  return from < to ? 0 : 1;
}

TraceSites::Place TraceSites::place(Bytes packet) const {
  if (const auto ip = ip_addresses(packet)) {
    const auto it = ip_hosts_.find(ip->first);
    return {site_of(ip->first, ip->second), it == ip_hosts_.end() ? 0 : it->second};
  }
  const auto it = macs_.find(mac_at(packet, 6));
  if (it == macs_.end()) return {};
  // A MAC that never sent IP stands opposite to the one that it speaks to.
  if (!it->second.first_ip) {
    const auto peer = macs_.find(mac_at(packet, 0));
    if (peer != macs_.end() && peer->second.first_ip) return {1 - peer->second.site, it->second.host};
  }
  return {it->second.site, it->second.host};
}

std::pair<size_t, size_t> TraceSites::divided() const {
  size_t a = 0;
  for (const auto& [ip, host] : ip_hosts_) a += site_a_ && site_a_->contains(ip) ? 1 : 0;
  return {a, ip_hosts_.size() - a};
}

}  // namespace matchrdma
