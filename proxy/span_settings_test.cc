#include "proxy/span_settings.h"

#include <gtest/gtest.h>

#include <vector>

namespace matchrdma {
namespace {

SpanSettings with(const std::string& name, const std::string& value) {
  SpanSettings s;
  const auto r = change_setting(s, name, value);
  EXPECT_TRUE(r.ok()) << r.error();
  return s;
}

TEST(SpanSettings, Values) {
  EXPECT_EQ(with("distance", "1000km").delay, Duration::millis(5));
  EXPECT_EQ(with("delay", "250us").delay, Duration::micros(250));
  EXPECT_EQ(with("rate", "100Gbps").rate.bps, 100'000'000'000);
  EXPECT_EQ(with("rate", "0").rate.bps, 0);
  EXPECT_DOUBLE_EQ(with("loss", "1%").loss_ba, 0.01);
  EXPECT_DOUBLE_EQ(with("loss-ab", "0.5").loss_ab, 0.5);
  EXPECT_DOUBLE_EQ(with("loss-ab", "0.5").loss_ba, 0);
  EXPECT_EQ(with("loss-filter", "roce-data").loss_filter, LossFilter::kRoceData);
}

TEST(SpanSettings, WhatIsWrongChangesNothing) {
  SpanSettings s = with("delay", "5ms");
  EXPECT_FALSE(change_setting(s, "delay", "soon").ok());
  for (const char* name : {"delay", "reorder-extra"}) {  // of what, it asks
    EXPECT_NE(change_setting(s, name, "5").error().find("5ms"), std::string::npos);
  }
  EXPECT_EQ(s.delay, Duration::millis(5));
  EXPECT_NE(change_setting(s, "colour", "red").error().find("colour: no such setting; there are delay"),
            std::string::npos);
  EXPECT_EQ(change_setting(s, "loss-filter", "x").error(),
            "loss-filter x: no such filter; choose all, roce, roce-data or port:N");
  EXPECT_FALSE(change_setting(s, "loss-filter", "port:65536").ok());
}

/// Ethernet, IPv4, UDP 4791, BTH with this opcode, ICRC.
std::vector<uint8_t> roce(uint8_t opcode, uint16_t extension_bytes) {
  std::vector<uint8_t> f(14 + 20 + 8 + 12 + extension_bytes + 4, 0);
  f[12] = 0x08;
  f[14] = 0x45;
  store_be16(f.data() + 16, static_cast<uint16_t>(f.size() - 14));
  f[22] = 64;
  f[23] = 17;
  store_be16(f.data() + 36, 4791);
  store_be16(f.data() + 38, static_cast<uint16_t>(f.size() - 34));
  f[42] = opcode;
  return f;
}

TEST(SpanSettings, FilterOfLoss) {
  const auto send = roce(0x04, 0), ack = roce(0x11, 4), ud = roce(0x64, 8);
  const auto arp = [] {
    std::vector<uint8_t> f(60, 0);
    store_be16(f.data() + 12, 0x0806);
    return f;
  }();
  const auto all = with("loss-filter", "all"), rc = with("loss-filter", "roce"),
             data = with("loss-filter", "roce-data"), port = with("loss-filter", "port:49153");
  for (const auto* f : {&send, &ack, &ud, &arp}) EXPECT_TRUE(may_be_lost(all, *f));
  EXPECT_TRUE(may_be_lost(data, send));
  EXPECT_FALSE(may_be_lost(data, ack));
  EXPECT_TRUE(may_be_lost(rc, ack));
  EXPECT_FALSE(may_be_lost(rc, ud));
  EXPECT_FALSE(may_be_lost(data, arp));
  auto from_there = ack;
  store_be16(from_there.data() + 34, 49153);
  EXPECT_TRUE(may_be_lost(port, from_there));
  for (const auto* f : {&send, &ack, &ud, &arp}) EXPECT_FALSE(may_be_lost(port, *f));
}

}  // namespace
}  // namespace matchrdma
