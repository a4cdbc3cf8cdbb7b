#include <gtest/gtest.h>

#include "proxy/replay_report.h"

namespace matchrdma {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

ReplayResult measured() {
  ReplayResult r;
  r.with_proxy = {10, 500, 900, 1000};
  r.without_proxy = {10, 10'000'000, 10'000'000, 10'000'000};
  return r;
}

TEST(ReplayWords, GainOnlyWhereEverythingIsWell) {
  ReplayResult r = measured();
  EXPECT_TRUE(has(replay_gain({}, r), "Gain: at 1000 km"));
  for (uint64_t DeliveryReport::*broken :
       {&DeliveryReport::bad_icrc_out, &DeliveryReport::unknown_out, &DeliveryReport::aeth_above_fence,
        &DeliveryReport::aeth_not_owned}) {
    r = measured();
    r.delivery.*broken = 1;
    EXPECT_TRUE(r.delivery.broken());
    EXPECT_EQ(replay_gain({}, r), "");
  }
}

TEST(ReplayWords, WhatIsMissingIsSplitByItsCause) {
  ReplayResult r = measured();
  r.delivery.lost = 1;
  EXPECT_EQ(replay_gain({}, r),
            "No gain: 1 request was not delivered: 1 not forwarded by the proxies (see the reasons above).");
  r.delivery.lost = 12;
  r.delivery.gone_on_span = 5;
  r.behind_gap = 2;
  r.proxy[0].reasons.add(Reason::kLanGapFull);
  r.proxy[1].reasons.add(Reason::kClosing);
  const std::string text = replay_gain({}, r);
  EXPECT_TRUE(has(text, "12 requests were not delivered: 5 lost by the span")) << text;
  EXPECT_TRUE(has(text, "3 behind one that never came")) << text;
  EXPECT_TRUE(has(text, "1 of a queue pair used anew")) << text;
  EXPECT_TRUE(has(text, "3 not forwarded")) << text;
}

TEST(ReplayWords, NothingToReplayIsOneSentence) {
  ReplayResult r;
  r.trace.file = "x.pcap";
  EXPECT_EQ(nothing_text(r), "x.pcap: holds no packet, so there is nothing to replay.");
  r.trace.packets = r.trace.truncated = 7;
  EXPECT_TRUE(has(nothing_text(r), "7 are cut short by the capture"));
  r.trace.roce = 1;
  EXPECT_EQ(nothing_text(r), "");
}

// What the proxies paired comes before what a look at the whole capture tells.
TEST(ReplayWords, TheSourceQpIsTheProxies) {
  ReplayResult r;
  r.streams.resize(2);
  r.learned.resize(2);
  r.streams[0].partner = 1;
  r.streams[0].evidence = "seen";
  r.streams[1].key.dst_qpn = Qpn{5};
  EXPECT_EQ(source_qp(r, 0).qpn->v, 5u);
  EXPECT_FALSE(source_qp(r, 0).by_proxies);
  EXPECT_EQ(evidence_text(r, 0), "seen");
  r.learned[0].by = "correlation";
  r.learned[0].sender_qpn = Qpn{6};
  EXPECT_EQ(source_qp(r, 0).qpn->v, 6u);
  EXPECT_TRUE(source_qp(r, 0).by_proxies);
  EXPECT_NE(evidence_text(r, 0), "seen");
  EXPECT_FALSE(source_qp(r, 1).qpn.has_value());
}

}  // namespace
}  // namespace matchrdma
