#include "config/checks.h"
#include "config/once.h"
#include "config/ports.h"
#include "config/units.h"

namespace matchrdma {
namespace {

/// Whether `path` can be one host, on its link if it is there. `remedy`: what should stand there instead.
void check_host(const std::string& path, const IpAddress& a, const Prefix& link, const std::string& remedy,
                Notes& notes) {
  if (!notes.written(path) || !notes.good(path)) return;
  if (const std::string why = why_no_host(a); !why.empty())
    return notes.error(path, "is no address of one host (" + why + "); write " + remedy);
  // A link of two addresses has neither (RFC 3021).
  if (!a.is_v4() || link.bits >= 31 || !link.contains(a)) return;
  IpAddress first = link.address, last = link.last();
  if (a != first && a != last) return;
  const std::string what = a == first ? "network" : "broadcast";
  ++first.b.back();
  --last.b.back();
  notes.error(path, "is the " + what + " address of the link, " + to_text(link) + "; write one of its hosts, " +
                        to_text(first) + " to " + to_text(last));
}

void check_addresses(const SpanConfig& s, const std::string& at, Notes& notes) {
  const std::string own = at + ".wan.address", peer = at + ".peer.address", gateway = at + ".wan.gateway";
  const Prefix link = s.wan.address.link();
  check_host(own, s.wan.address.address, link, "a unicast address of this proxy", notes);
  check_host(peer, s.peer.address, link, "the unicast address of the proxy at the other end", notes);
  if (s.wan.gateway) check_host(gateway, *s.wan.gateway, link, "the unicast address of the next hop", notes);
  if (s.wan.gateway && notes.good(gateway) && notes.good(own)) {
    if (!link.contains(*s.wan.gateway))
      notes.error(gateway, "is not on the link of wan.address, " + to_text(link) +
                               "; write a next hop that is, or a shorter prefix");
    else if (*s.wan.gateway == s.wan.address.address)
      notes.error(gateway, "is wan.address itself; write the address of the next hop, or leave the key out");
  }
  if (!notes.written(own) || !notes.good(own) || !notes.written(peer) || !notes.good(peer)) return;
  if (s.peer.address.is_v4() != s.wan.address.address.is_v4())
    notes.error(peer, "is of another IP version than wan.address; write both as IPv4 or both as IPv6");
  else if (s.peer.address == s.wan.address.address)
    notes.error(peer, "is wan.address itself; write the address of the proxy at the other end");
  else if (!s.wan.gateway && notes.good(gateway) && !link.contains(s.peer.address))
    notes.error(
        peer, "is not on the link of wan.address, " + to_text(link) + "; set wan.gateway, or a shorter prefix");
}

void check_mac(const PeerConfig& p, const std::string& path, Notes& notes) {
  if (!p.mac || !notes.good(path)) return;
  const bool group = (p.mac->b[0] & 1) != 0;
  if (group || *p.mac == MacAddress{})
    notes.error(path, std::string(group ? "is a group address" : "is no address of a port") +
                          "; write the MAC of the peer's WAN port, or leave the key out");
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

void check_estimator(const SpanConfig& s, const std::string& at, Notes& notes) {
  const std::string line = at + ".estimator.line_rate";
  if (s.estimator.scheme == BudgetScheme::kFixed || !notes.written(line) || !notes.good(line)) return;
  if (s.line_rate() > s.egress.rate)
    notes.warning(line, "is above egress.rate, " + to_text(s.egress.rate) +
                            ", which is the most that a receiver is sent: the peer is told more than that at "
                            "times, and it waits here; leave the key out");
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
  check_mac(s.peer, at + ".peer.mac", notes);
  check_addresses(s, at, notes);
  check_keys(s.peer, at, notes);
  check_estimator(s, at, notes);
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
