#pragma once
// Random messages of every type; every field of every one takes many values.
#include "dataplane/base/prng.h"
#include "dataplane/flow/message.h"

namespace matchrdma::test {

class MessageMaker {
 public:
  explicit MessageMaker(uint64_t seed) : r_(seed) {}

  Message any() { return of_type(r_.below(std::variant_size_v<Message>)); }
  Message of_type(size_t index) {
    Message m;
    pick<0>(m, index);
    return m;
  }

 private:
  template <size_t I>
  void pick(Message& m, size_t index) {
    if constexpr (I < std::variant_size_v<Message>) {
      if (I != index) return pick<I + 1>(m, index);
      std::variant_alternative_t<I, Message> body{};
      fill(body);
      m = body;
    }
  }

  bool coin() { return r_.below(2) == 1; }
  template <class T>
  T number(uint64_t limit) {
    return static_cast<T>(r_.below(limit));
  }
  template <class T>
  T anything() {
    return static_cast<T>(r_.next());
  }
  Seq seq() { return r_.between(0, int64_t{1} << 62); }
  FlowId id() { return {r_.next()}; }
  Qpn qpn() { return {number<uint32_t>(1 << 24)}; }
  uint16_t vlan() { return number<uint16_t>(1 << 12); }
  Instant instant() { return {coin() ? seq() : -seq()}; }
  uint32_t mtu() { return 256u << r_.below(5); }
  Completion completion() { return static_cast<Completion>(r_.below(3)); }
  IpAddress address(bool v4) {
    std::array<uint8_t, 16> b;
    for (uint8_t& x : b) x = anything<uint8_t>();
    return v4 ? IpAddress::v4(b.data()) : IpAddress::v6(b.data());
  }
  FlowKey key() {
    const bool v4 = coin();
    return {address(v4), address(v4), qpn(), vlan(), vlan(), anything<uint16_t>()};
  }
  L2L3 net() {
    static constexpr uint16_t kTpids[] = {0x8100, 0x88a8, 0x9100};
    L2L3 l;
    for (size_t i = 0; i < 6; ++i) l.mac_dst[i] = anything<uint8_t>(), l.mac_src[i] = anything<uint8_t>();
    l.vlan_tags = number<int>(3);
    for (size_t i = 0; i < static_cast<size_t>(l.vlan_tags); ++i) {
      l.vlan_tpid[i] = kTpids[r_.below(3)];
      l.vlan_tci[i] = anything<uint16_t>();
    }
    const bool v4 = coin();
    l.src = address(v4);
    l.dst = address(v4);
    l.traffic_class = anything<uint8_t>();
    l.hop_limit = anything<uint8_t>();
    l.flow_label = v4 ? 0 : number<uint32_t>(1 << 20);
    l.udp_source_port = anything<uint16_t>();
    l.udp_checksum = coin();
    return l;
  }
  Registration registration() {
    Registration r;
    const bool v4 = coin();
    for (Registration::End* e : {&r.a, &r.b}) {
      *e = {address(v4), qpn(), coin(), Psn{number<uint32_t>(1 << 24)}, seq()};
    }
    r.vlan_outer = vlan();
    r.vlan_inner = vlan();
    r.port_pair = anything<uint16_t>();
    r.path_mtu = mtu();
    r.credits = coin();
    if (coin()) r.completion = completion();
    return r;
  }

  void fill(FlowOpen& m) { m = {id(), key(), qpn(), mtu(), completion(), coin(), coin(), coin()}; }
  void fill(FlowOpened& m) { m = {id(), static_cast<OpenAnswer>(r_.below(3))}; }
  void fill(FlowBase& m) { m = {id(), seq(), coin(), coin()}; }
  void fill(FlowBaseAck& m) { m = {id(), seq()}; }
  void fill(FlowLifted& m) { m = {id(), seq()}; }
  void fill(FlowLiftedAck& m) { m = {id()}; }
  void fill(FlowClose& m) { m = {id(), coin(), coin()}; }
  void fill(FlowClosed& m) { m = {id()}; }
  void fill(CloseMarker& m) { m = {id()}; }
  void fill(SentMark& m) { m = {id(), r_.next(), seq(), seq(), r_.next()}; }
  void fill(CustodyAck& m) {
    m.id = id();
    m.seq = r_.next();
    m.confirmed_end = seq();
    m.received_end = seq();
    m.ranges = number<int>(CustodyAck::kRanges + 1);
    Seq begin = r_.between(0, 1 << 30);
    for (size_t i = 0; i < static_cast<size_t>(m.ranges); ++i) {
      m.range[i] = {begin, begin + r_.between(1, 1000)};
      begin += r_.between(1, 1000);
    }
    m.known_begin = seq();
    m.known_end = coin() ? INT64_MAX : seq();
    m.msn_known = coin();
    m.msn_real = Msn{number<uint32_t>(1 << 24)};
    m.credits = number<uint8_t>(32);
    m.mark_echo = r_.next();
    if (coin()) m.form = {true, net(), anything<uint16_t>(), coin()};
  }
  void fill(FlowFault& m) { m = {id(), anything<uint8_t>(), coin(), seq(), Msn{number<uint32_t>(1 << 24)}}; }
  void fill(FlowContradicted& m) { m = {id()}; }
  void fill(FlowFaultAck& m) { m = {id()}; }
  void fill(RegisterQp& m) { m = {registration(), r_.next()}; }
  void fill(UnregisterQp& m) { m = {registration(), r_.next()}; }
  void fill(UnregisterQpAck& m) { m = {registration()}; }
  void fill(RegisterQpAck& m) { m = {registration()}; }
  void fill(Drain& m) { m = {coin()}; }
  void fill(DrainAck& m) { m = {coin()}; }
  void fill(Budget& m) {
    m = {{address(coin()), vlan(), vlan(), anything<uint16_t>()}, Rate{seq()}, Duration{seq()}, r_.next()};
  }
  void fill(Probe& m) { m = {instant()}; }
  void fill(ProbeAck& m) { m = {instant(), instant(), instant()}; }

  Prng r_;
};

}  // namespace matchrdma::test
