#include "pcap/replay_budgets.h"

#include <gtest/gtest.h>

namespace matchrdma {
namespace {

SlotOutput slot(int64_t number, int64_t bps) {
  SlotOutput s;
  s.budget.rate = Rate{bps};
  s.why.slot = number;
  return s;
}

TEST(ReplayBudgets, SumsAreKeptByProxyAndReceiver) {
  GroupKey one, two;
  two.vlan_outer = 7;
  const SlotOutput s[] = {slot(1, 30), slot(1, 5), slot(2, 20)};
  for (const bool keep : {false, true}) {
    ReplayBudgets b(keep);
    const GroupWhy first[] = {{one, &s[0]}, {two, &s[1]}}, second[] = {{one, &s[2]}};
    b.closed(1, first);
    b.closed(1, {});
    b.closed(1, second);
    b.closed(0, second);
    ReplayResult r;
    b.hand_out(r);
    ASSERT_EQ(r.budgets.size(), 3u);
    EXPECT_EQ(r.budgets[0].site, 1);
    EXPECT_EQ(r.budgets[0].made, 2u);
    EXPECT_EQ(r.budgets[0].lowest, Rate{20});
    EXPECT_EQ(r.budgets[0].highest, Rate{30});
    EXPECT_EQ(r.budgets[1].group, two);
    EXPECT_EQ(r.budgets[2].site, 0);
    ASSERT_EQ(r.slots.size(), keep ? 4u : 0u);
    EXPECT_TRUE(!keep || r.slots[2].slot.why.slot == 2);
  }
}

}  // namespace
}  // namespace matchrdma
