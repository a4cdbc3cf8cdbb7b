// Flow table, and the declared lives of a flow as docs/flow_states.md shows them.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "dataplane/base/prng.h"
#include "dataplane/flow/flow_state.h"
#include "dataplane/flow/flow_table.h"

namespace matchrdma {
namespace {

FlowKey key(uint32_t qpn, uint16_t vlan = 0) {
  FlowKey k;
  k.dst_qpn = Qpn{qpn};
  k.vlan_outer = vlan;
  return k;
}

TEST(FlowTable, FindsWhatWasInserted) {
  FlowTable t(100);
  for (uint32_t i = 0; i < 100; ++i) EXPECT_EQ(t.insert(key(i)), i);
  for (uint32_t i = 0; i < 100; ++i) EXPECT_EQ(t.find(key(i)), i);
  EXPECT_EQ(t.find(key(100)), kNoFlow);
  EXPECT_EQ(t.find(key(5, 20)), kNoFlow);  // H16
  EXPECT_EQ(t.insert(key(7)), 7u);
}

TEST(FlowTable, HardLimit) {
  FlowTable t(2);
  t.insert(key(1));
  t.insert(key(2));
  EXPECT_EQ(t.insert(key(3)), kNoFlow);
  EXPECT_EQ(t.insert(key(2)), 1u);
  EXPECT_EQ(t.size(), 2u);
}

TEST(FlowTable, ErasedKeysLeaveNoHoleBehindThem) {
  Prng prng(7);
  FlowTable t(64);
  std::map<uint32_t, FlowIndex> known;
  for (int step = 0; step < 20'000; ++step) {
    const auto qpn = static_cast<uint32_t>(prng.below(128));
    const auto it = known.find(qpn);
    if (it != known.end()) {
      EXPECT_EQ(t.find(key(qpn)), it->second);
      EXPECT_TRUE(t.used(it->second));
      t.erase(it->second);
      known.erase(it);
    } else if (const FlowIndex i = t.insert(key(qpn)); i == kNoFlow) {
      EXPECT_EQ(known.size(), 64u);
    } else {
      known[qpn] = i;
    }
    EXPECT_EQ(t.size(), known.size());
  }
  for (uint32_t qpn = 0; qpn < 128; ++qpn) EXPECT_EQ(t.find(key(qpn)) != kNoFlow, known.contains(qpn));
}

std::string printed() {
  std::string out =
      "# Lives of a flow at its source\n\n"
      "Printed from the table of `dataplane/flow/flow_state.cc`; `flow_test` fails when they differ.\n\n"
      "| state | event | next |\n|---|---|---|\n";
  for (const Transition& t : flow_transitions()) {
    out += std::string("| ") + state_name(t.from) + " | " + event_name(t.event) + " | " + state_name(t.to) +
           " |\n";
  }
  return out;
}

TEST(FlowState, DocumentShowsTheTable) {
  std::ifstream file(MATCHRDMA_SOURCE_DIR "/docs/flow_states.md");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), printed()) << "docs/flow_states.md must be:\n" << printed();
}

TEST(FlowState, OneNextStateForEveryEvent) {
  for (const Transition& t : flow_transitions()) {
    EXPECT_TRUE(can(t.from, t.event));
    EXPECT_EQ(next_state(t.from, t.event), t.to) << state_name(t.from) << " " << event_name(t.event);
  }
  for (int s = 0; s < static_cast<int>(FlowState::kCount); ++s) {
    EXPECT_TRUE(can(static_cast<FlowState>(s), FlowEvent::kFault));  // a QP can be failed in every state
  }
}

TEST(FlowState, PseudoAcksOnlyBehindBaseAndBarrier) {
  for (const Transition& t : flow_transitions()) {
    if (t.to != FlowState::kActive) continue;
    // A flow that is opened again was behind its barrier before.
    const bool again = t.from == FlowState::kReopening && t.event == FlowEvent::kReopened;
    EXPECT_TRUE(again || t.event == FlowEvent::kLift || t.event == FlowEvent::kBaseAnsweredFresh);
  }
  for (const Transition& t : flow_transitions()) {
    if (t.to != FlowState::kReopening) continue;
    EXPECT_TRUE(t.from == FlowState::kActive || t.from == FlowState::kReopening);
  }
}

}  // namespace
}  // namespace matchrdma
