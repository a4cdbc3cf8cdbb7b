#pragma once
// On which side of the span each sender of a capture stands.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/base/result.h"
#include "dataplane/base/types.h"
#include "dataplane/wire/frame.h"

namespace matchrdma {

/// 0: before proxy A; 1: before proxy B.
using Site = int;

/// An address block such as 10.9.0.0/24 or fd09::/16.
struct Cidr {
  IpAddress address;
  int bits = 128;  ///< of the 128 bit form; IPv4 lengths are counted from bit 96
  bool contains(const IpAddress& a) const;
  static Result<Cidr> parse(const std::string& text);
};

/// Duty: per IP pair the host that sends the first RoCE request is A (or: what lies in --site-a); what is not
/// IP follows its MAC. learn() every packet, resolve(), then ask. A host is an IP address, or a MAC that never
/// sent IP.
class TraceSites {
 public:
  struct Host {
    std::string name;
    uint64_t packets = 0;
  };
  struct Place {
    Site site = 0;
    int host = 0;
  };

  explicit TraceSites(std::optional<Cidr> site_a = std::nullopt) : site_a_(site_a) {}
  void learn(Bytes packet, const ParseResult& parsed);
  void resolve();
  Place place(Bytes packet) const;
  /// Where `from` stands when it speaks to `to`.
  Site site_of(const IpAddress& from, const IpAddress& to) const;
  const std::vector<Host>& hosts() const { return hosts_; }
  /// IP hosts at site A and at site B, as far as --site-a decides it.
  std::pair<size_t, size_t> divided() const;

 private:
  using Mac = std::array<uint8_t, 6>;
  using IpPair = std::pair<IpAddress, IpAddress>;
  struct MacFacts {
    std::optional<IpPair> first_ip;  ///< source and destination of its first IP packet
    uint64_t foreign_packets = 0;    ///< those that are not IP
    int host = -1;
    Site site = 0;
  };
  int host_of(const IpAddress& ip);

  std::optional<Cidr> site_a_;
  std::map<IpPair, IpAddress> a_of_pair_;         ///< key sorted; value: the end that requested first
  std::map<IpPair, IpAddress> answerer_of_pair_;  ///< for pairs without any request: who answered first is B
  std::map<IpAddress, int> ip_hosts_;
  std::map<Mac, MacFacts> macs_;
  std::vector<Host> hosts_;
};

}  // namespace matchrdma
