// How queue pairs find each other and what the capture shows of them.
#include <algorithm>
#include <map>
#include <set>

#include "dataplane/wire/cm_mad.h"
#include "dataplane/wire/source_port.h"
#include "pcap/make/test_make.h"

namespace matchrdma {
namespace {

using test::count;
using test::Made;
using test::make;
using test::small;

TEST(MakeOption, CmOpensAndClosesEveryConnection) {
  TraceRecipe r = small();
  r.setup = TraceSetup::kCm;
  r.psn = TracePsn::kRandom;
  const Made m = make(r);
  std::map<uint16_t, int> mads;
  std::map<uint32_t, CmMad> asked;  // by communication id
  std::set<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>> learned, truth;
  bool data_seen = false;
  for (const auto& p : m.packets) {
    const auto mad = parse_cm_mad(p.frame());
    data_seen |= !mad;
    if (!mad) continue;
    ++mads[mad->attribute];
    EXPECT_FALSE(mad->opens() && data_seen);
    if (mad->attribute == CmMad::kReq) asked[mad->local_id] = *mad;
    if (mad->attribute != CmMad::kRep) continue;
    const CmMad& req = asked.at(mad->remote_id);
    EXPECT_EQ(req.path_mtu, 1024u);
    learned.insert({req.qpn.v, mad->starting_psn.v, mad->qpn.v, req.starting_psn.v});
  }
  for (const TracePair& p : m.truth.pairs) truth.insert({p.a.qpn.v, p.a.start.v, p.b.qpn.v, p.b.start.v});
  EXPECT_EQ(learned, truth);
  for (const uint16_t attribute : {CmMad::kReq, CmMad::kRep, CmMad::kRtu, CmMad::kDreq, CmMad::kDrep})
    EXPECT_EQ(mads[attribute], 4) << attribute;
}

TEST(MakeOption, Psn) {
  TraceRecipe r = small();
  for (const TracePair& p : make(r).truth.pairs) {
    EXPECT_EQ(p.a.start.v + p.b.start.v, 0u);
    EXPECT_EQ(p.a.first_request, Psn{0});
    EXPECT_EQ(p.b.first_request, Psn{0});
  }
  r.psn = TracePsn::kRandom;
  std::set<uint32_t> starts;
  for (const TracePair& p : make(r).truth.pairs) {
    starts.insert({p.a.start.v, p.b.start.v});
    EXPECT_EQ(p.a.first_request, p.a.start);
    EXPECT_EQ(p.b.first_request, p.b.start);
  }
  EXPECT_EQ(starts.size(), 8u);
}

TEST(MakeOption, Qpn) {
  TraceRecipe r = small();
  const auto steps_of_one = [](const Made& m) {
    for (size_t i = 1; i < m.truth.pairs.size(); ++i)
      if (m.truth.pairs[i].a.qpn.v != m.truth.pairs[i - 1].a.qpn.v + 1) return false;
    return true;
  };
  EXPECT_TRUE(steps_of_one(make(r)));
  r.qpn = TraceQpn::kRandom;
  EXPECT_FALSE(steps_of_one(make(r)));
}

TEST(MakeOption, SourcePort) {
  TraceRecipe r = small();
  std::set<uint16_t> ports;
  for (const TracePair& p : make(r).truth.pairs) {
    EXPECT_EQ(p.a.udp_port, hashed_source_port(p.a.qpn, p.b.qpn));
    EXPECT_EQ(p.a.udp_port, p.b.udp_port);
  }
  r.source_port = TracePort::kFixed;
  EXPECT_EQ(make(r).info().udp_source_ports.size(), 1u);
  r.source_port = TracePort::kPerQp;
  EXPECT_EQ(make(r).info().udp_source_ports.size(), 4u);
  r.source_port = TracePort::kOwnQpn;
  const Made own = make(r);
  for (const TracePair& p : own.truth.pairs) {
    EXPECT_EQ(p.a.udp_port, p.a.qpn.v);
    EXPECT_EQ(p.b.udp_port, p.b.qpn.v);
  }
  EXPECT_EQ(own.info().udp_source_ports.size(), 8u);
}

TEST(MakeOption, JoinAfterCutsTheBeginning) {
  TraceRecipe r = small();
  r.setup = TraceSetup::kCm;
  const Made whole = make(r);
  r.join_after = Duration::micros(400);
  const Made late = make(r);
  EXPECT_LT(late.packets.size(), whole.packets.size());
  EXPECT_EQ(late.packets.size() + late.truth.hidden, whole.packets.size());
  EXPECT_GE(late.truth.first, late.truth.begin + r.join_after);
  EXPECT_TRUE(std::equal(late.packets.rbegin(), late.packets.rend(), whole.packets.rbegin(),
                         [](const auto& x, const auto& y) { return x.bytes == y.bytes; }));
  EXPECT_NE(late.truth.pairs[0].a.first_request, late.truth.pairs[0].a.start);
}

TEST(MakeOption, HideAndItsDirection) {
  TraceRecipe r = small();
  r.hide = 0.5;
  r.setup = TraceSetup::kCm;
  const auto sides = [](const Made& m) {
    std::pair<int, int> n;
    for (const TracePair& p : m.truth.pairs) {
      n.first += p.a.packets > 0 ? 1 : 0;
      n.second += p.b.packets > 0 ? 1 : 0;
      EXPECT_EQ(p.a.visible, p.a.packets > 0);
      EXPECT_EQ(p.b.visible, p.b.packets > 0);
    }
    return n;
  };
  const Made both = make(r);
  EXPECT_EQ(sides(both), (std::pair{2, 2}));
  EXPECT_EQ(count(both, op::kUdSendOnly), 10u) << "MADs of hidden connections are hidden too";
  EXPECT_GT(both.truth.hidden, 0u);
  r.hide_direction = TraceHidden::kFromA;
  EXPECT_EQ(sides(make(r)), (std::pair{2, 4}));
  r.hide_direction = TraceHidden::kFromB;
  EXPECT_EQ(sides(make(r)), (std::pair{4, 2}));
}

TEST(MakeOption, ReuseGivesQpnsOtherPartnersAndPsns) {
  TraceRecipe r = small();
  r.reuse = true;
  r.psn = TracePsn::kRandom;
  const Made m = make(r);
  ASSERT_EQ(m.truth.pairs.size(), 8u);
  for (size_t i = 0; i < 4; ++i) {
    const TracePair &old = m.truth.pairs[i], &young = m.truth.pairs[i + 4];
    EXPECT_EQ(old.a.qpn, young.a.qpn);
    EXPECT_NE(old.b.qpn, young.b.qpn);
    EXPECT_NE(old.a.start, young.a.start);
    EXPECT_LT(old.ended, young.born);
    EXPECT_EQ(young.a.first_request, young.a.start);
  }
}

TEST(MakeOption, Ipv6AndVlans) {
  TraceRecipe r = small();
  r.ipv6 = true;
  r.vlans = {100, 200};
  for (const auto& p : make(r).packets) {
    const Frame f = p.frame();
    ASSERT_FALSE(f.is_v4());
    ASSERT_EQ(f.vlan_tags(), 2);
    ASSERT_EQ(f.vlan_id(0), 100);
    ASSERT_EQ(f.vlan_id(1), 200);
  }
  r.vlans = {7};
  const Made one = make(r);
  EXPECT_EQ(one.packets.front().frame().vlan_tags(), 1);
  EXPECT_EQ(one.truth.pairs[0].vlan_outer, 7);
  EXPECT_EQ(one.truth.pairs[0].vlan_inner, 0);
}

}  // namespace
}  // namespace matchrdma
