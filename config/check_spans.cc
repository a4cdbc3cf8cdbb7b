#include <map>
#include <set>

#include "config/checks.h"
#include "config/ports.h"
#include "config/units.h"

namespace matchrdma {
namespace {

bool is_host_address(const IpAddress& a) {
  if (a == IpAddress{}) return false;
  if (a.is_v4()) return a.b[12] != 0 && a.b[12] < 224;
  return a.b[0] != 0xff;
}

/// Duty: tells the second use of what may be used once. Does not know what it is.
class Once {
 public:
  Once(std::string what, Notes& notes) : what_(std::move(what)), notes_(notes) {}
  void use(const std::string& thing, const std::string& path) {
    if (thing.empty()) return;
    const auto [first, fresh] = seen_.emplace(thing, path);
    if (!fresh) notes_.error(path, what_ + " " + first->second + " too; choose another one");
  }

 private:
  std::string what_;
  Notes& notes_;
  std::map<std::string, std::string> seen_;
};

void check_addresses(const SpanConfig& s, const std::string& at, Notes& notes) {
  const std::string own = at + ".wan.address", peer = at + ".peer.address", gateway = at + ".wan.gateway";
  for (const auto& [path, address] : {std::pair{own, s.wan.address.address}, std::pair{peer, s.peer.address}})
    if (notes.written(path) && notes.good(path) && !is_host_address(address))
      notes.error(path, "is no address of one host; write the proxy's own unicast address");
  if (s.wan.gateway && notes.good(gateway) && notes.good(own) && !s.wan.address.link().contains(*s.wan.gateway))
    notes.error(gateway, "is not on the link of wan.address, " + to_text(s.wan.address.link()) +
                             "; write a next hop that is, or a shorter prefix");
  if (!notes.written(own) || !notes.good(own) || !notes.written(peer) || !notes.good(peer)) return;
  if (s.peer.address.is_v4() != s.wan.address.address.is_v4())
    notes.error(peer, "is of another IP version than wan.address; write both as IPv4 or both as IPv6");
  else if (s.peer.address == s.wan.address.address)
    notes.error(peer, "is wan.address itself; write the address of the proxy at the other end");
  else if (!s.wan.gateway && notes.good(gateway) && !s.wan.address.link().contains(s.peer.address))
    notes.error(peer, "is not on the link of wan.address, " + to_text(s.wan.address.link()) +
                          "; set wan.gateway, or a shorter prefix");
}

void check_keys(const PeerConfig& p, const std::string& at, Notes& notes) {
  const std::string keys = at + ".peer.keys";
  if (!notes.written(keys)) return;
  if ((p.keys.empty() || p.keys.size() > 2) && notes.good(keys))
    notes.error(
        keys, "has " + std::to_string(p.keys.size()) + " keys; write one, or two while one is being replaced");
  Once ids("stands at", notes);
  for (size_t i = 0; i < p.keys.size(); ++i)
    if (const std::string id = nth(keys, i) + ".id"; notes.written(id) && notes.good(id))
      ids.use(std::to_string(p.keys[i].id), id);
}

void check_groups(const SpanConfig& s, const std::string& at, Notes& notes) {
  for (size_t i = 0; i < s.budgets.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      const BudgetConfig &earlier = s.budgets[j], &later = s.budgets[i];
      const std::string path = nth(at + ".budgets.groups", i) + ".receivers";
      if (!notes.written(path) || !notes.good(path) || (earlier.vlan && earlier.vlan != later.vlan) ||
          !earlier.receivers.covers(later.receivers))
        continue;
      notes.warning(path,
                    "never counts: " + to_text(earlier.receivers) + " before it takes all of them; move it up");
      break;
    }
}

void check_one(const SpanConfig& s, const std::string& at, Notes& notes) {
  const std::string lan_mtu = at + ".lan.mtu", wan_mtu = at + ".wan.mtu";
  if (s.wan.mtu < s.lan.mtu && notes.good(lan_mtu) && notes.good(wan_mtu))
    notes.error(notes.written(wan_mtu) ? wan_mtu : lan_mtu,
                "the WAN carries " + std::to_string(s.wan.mtu) + " bytes, the LAN " +
                    std::to_string(s.lan.mtu) + ": packets of the LAN would be lost; raise wan.mtu to " +
                    std::to_string(s.lan.mtu) + " or lower lan.mtu");
  if (notes.written(at + ".distance") && notes.written(at + ".rtt"))
    notes.error(at + ".rtt", "stands beside `distance`; keep one of the two");
  if (s.peer.mac && (s.peer.mac->b[0] & 1) != 0)
    notes.error(at + ".peer.mac",
                "is a group address; write the MAC of the peer's WAN port, or leave the key out");
  check_addresses(s, at, notes);
  check_keys(s.peer, at, notes);
  check_groups(s, at, notes);
}

}  // namespace

void check_spans(const Config& c, Notes& notes) {
  if (c.spans.empty() && notes.written("spans") && notes.good("spans"))
    notes.error("spans", "names no span; write one at least, see the examples");
  Once names("is the name of", notes), ports("is the port of", notes),
      interfaces("is on the interface of", notes), addresses("is the address of", notes);
  for (size_t i = 0; i < c.spans.size(); ++i) {
    const SpanConfig& s = c.spans[i];
    const std::string at = nth("spans", i);
    names.use(s.name, at + ".name");
    for (const auto& [port, path] :
         {std::pair{s.lan.port, at + ".lan.port"}, std::pair{s.wan.port, at + ".wan.port"}}) {
      ports.use(port_device(port), path);
      if (notes.good(path)) interfaces.use(port_interface(port), path);
    }
    if (notes.written(at + ".wan.address") && notes.good(at + ".wan.address"))
      addresses.use(to_text(s.wan.address.address) + " " + std::to_string(s.wan.vlan.value_or(0)),
                    at + ".wan.address");
    check_one(s, at, notes);
  }
}

}  // namespace matchrdma
