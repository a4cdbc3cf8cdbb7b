// spans: one LAN port, one WAN port and one peer each.
#include "config/ports.h"
#include "config/schema.h"

namespace matchrdma {
namespace {

const auto kRestart = Apply::kRestart;
const auto kReload = Apply::kReload;
constexpr uint64_t kGiB = 1ull << 30;

Kind<std::string> port() {
  return word<std::string>("PCI address or vdev", parse_port, [](const std::string& s) { return s; });
}

Kind<uint16_t> mtu() { return whole<uint16_t>(1280, 9978); }

Kind<LanConfig> lan_section() {
  using L = LanConfig;
  return section<L>({
      required<L>("port", &L::port, port(), kRestart, "the port towards the hosts"),
      key<L>("mtu", &L::mtu, mtu(), kRestart, "largest IP packet there, bytes"),
      key<L>("link_loss_forwarding", &L::link_loss_forwarding, on_off(), kReload,
             "take the link down while that of the WAN is down, so that the LAN reroutes (H14)"),
      key<L>("pfc", &L::pfc, one_or_more(whole<uint8_t>(0, 7), "priority or list of them"), kRestart,
             "lossless priorities paused while custody is above its soft limit; none if missing (C12)"),
  });
}

Kind<WanConfig> wan_section() {
  using W = WanConfig;
  const auto own = word<InterfaceAddress>(
      "address/prefix length", parse_interface_address,
      [](const InterfaceAddress& a) { return a == InterfaceAddress{} ? "" : to_text(a); });
  return section<W>({
      required<W>("port", &W::port, port(), kRestart, "the port towards the span"),
      key<W>("mtu", &W::mtu, mtu(), kRestart, "largest IP packet there; at least that of the LAN"),
      required<W>("address", &W::address, own, kRestart, "own address of the control subchannel"),
      key<W>("gateway", &W::gateway, maybe(address()), kRestart, "next hop, where the peer is not on the link"),
      key<W>("vlan", &W::vlan, maybe(whole<uint16_t>(1, 4094)), kRestart, "VLAN id of control datagrams"),
  });
}

Kind<PeerConfig> peer_section() {
  using P = PeerConfig;
  using K = PeerKey;
  const auto peer_key = section<K>({
      required<K>("id", &K::id, whole<uint32_t>(0, 0xffffffff), kReload,
                  "number of the key, the same at both ends"),
      required<K>("file", &K::file, words("a path", 4095), kReload,
                  "mode 0600, 64 hex digits or 32 raw bytes; relative to the folder of this file"),
  });
  const auto mac = word<MacAddress>("MAC address", parse_mac, [](const MacAddress& m) { return to_text(m); });
  return section<P>({
      required<P>("address", &P::address, address(), kRestart, "address of the other proxy"),
      key<P>("mac", &P::mac, maybe(mac), kRestart, "its MAC address; learned where not written"),
      required<P>("keys", &P::keys, list_of(peer_key, "list of 1 or 2"), kReload,
                  "secrets shared with the peer; two while one is being replaced"),
  });
}

/// Both fields of a RateConfig, for a section that holds more.
template <class T, class Get>
std::vector<Field<T>> rate_and_burst(Get get, const std::string& what) {
  return {
      key<T>(
          "rate", [get](auto& t) -> auto& { return std::invoke(get, t).rate; }, rate(), kReload, what),
      key<T>(
          "burst", [get](auto& t) -> auto& { return std::invoke(get, t).burst_bytes; },
          bytes_between(16 << 10, kGiB), kReload, "depth of the bucket"),
  };
}

Kind<SpanConfig> budgets_section() {
  using S = SpanConfig;
  using B = BudgetConfig;
  std::vector<Field<B>> one = {
      required<B>("receivers", &B::receivers, prefix(), kReload, "each address in it has a bucket of its own"),
      key<B>("vlan", &B::vlan, maybe(whole<uint16_t>(0, 4094)), kReload,
             "outer VLAN id, 0 untagged; any if missing"),
  };
  // Whoever names receivers wants another rate for them; the burst may stay.
  for (Field<B>& f : rate_and_burst<B>(&B::budget, "what one of these receivers may be sent"))
    one.push_back(std::move(f));
  KeyInfo& own_rate = one[one.size() - 2].info;
  own_rate.required = true;
  own_rate.fallback.clear();
  std::vector<Field<S>> all = rate_and_burst<S>(&S::default_budget, "what one receiver may be sent");
  all.push_back(key<S>("groups", &S::budgets, list_of(section<B>(std::move(one)), "list"), kReload,
                       "receivers with another budget; the first that fits counts"));
  return section<S>(std::move(all));
}

/// A distance is kept as the RTT of light in glass: 5 us for each kilometre and way.
Kind<std::optional<Duration>> distance() {
  auto kind = maybe(word<Duration>(
      "distance",
      [](const std::string& text) -> Result<Duration> {
        auto km = parse_distance_with_unit(text);
        if (!km) return Error{km.error()};
        return Duration{static_cast<int64_t>(*km * 2 * kNanosPerKm)};
      },
      [](const Duration&) { return std::string(); }));
  kind.show = [](const std::optional<Duration>&) { return Shown{}; };  // shown as `rtt`
  return kind;
}

Kind<EstimatorConfig> estimator_section() {
  using E = EstimatorConfig;
  const auto scheme = choice<BudgetScheme>(
      {{"fixed", BudgetScheme::kFixed}, {"earned", BudgetScheme::kEarned}, {"paper", BudgetScheme::kPaper}});
  return section<E>({
      key<E>(
          "scheme", &E::scheme, scheme, kRestart,
          "fixed: the peer sends at its `budgets`; earned: it is told what the receivers here can take; paper: "
          "the published weights, to compare"),
      key<E>("slot", &E::slot, time_between(E::kLeastSlot, E::kMostSlot), kRestart,
             "budgets are made so often"),
      key<E>("line_rate", &E::line_rate, maybe(rate()), kRestart, "of the LAN port; egress.rate if missing"),
      key<E>("queue_target", &E::queue_target, maybe(bytes_between(E::kLeastTarget, E::kMostTarget)), kRestart,
             "bytes that may wait for a receiver, so that a rise shows; 24us of the line if missing"),
  });
}

}  // namespace

Kind<std::vector<SpanConfig>> spans_list() {
  using S = SpanConfig;
  auto all = [](auto& s) -> auto& { return s; };
  const auto control = choice<L2Control>({{"forward", L2Control::kForward}, {"drop", L2Control::kDrop}});
  const auto span = section<S>({
      required<S>("name", &S::name, words("a name", 32), kRestart,
                  "of this span, in classes, logs and metrics"),
      required<S>("lan", &S::lan, lan_section(), kRestart, "the side of the hosts"),
      required<S>("wan", &S::wan, wan_section(), kRestart, "the side of the span"),
      required<S>("peer", &S::peer, peer_section(), kRestart, "the proxy at the other end"),
      key<S>("distance", &S::expected_rtt, distance(), kReload,
             "length, like 1000km: for warnings, the proxies measure; this or rtt"),
      key<S>("rtt", &S::expected_rtt, maybe(time_between(Duration{}, Duration::seconds(10))), kReload,
             "there and back, where the path is not straight"),
      key<S>("l2_control", &S::l2_control, control, kReload, "LACP, STP, LLDP and 802.1X frames"),
      key<S>("budgets", all, budgets_section(), kReload,
             "rates into the span: the most, where the peer's estimator says less"),
      key<S>("egress", all, section<S>(rate_and_burst<S>(&S::egress, "what one receiver is sent into the LAN")),
             kReload, "rates into the LAN"),
      key<S>("estimator", &S::estimator, estimator_section(), kRestart,
             "who decides how fast the peer may send"),
  });
  return list_of(span, "list of 1 or more");
}

}  // namespace matchrdma
