#include "pcap/make/trace_recipe.h"

#include <gtest/gtest.h>

#include <string>

namespace matchrdma {
namespace {

template <class Change>
std::string complaint(Change change) {
  TraceRecipe r;
  change(r);
  const auto ok = check_recipe(r);
  return ok ? "accepted" : ok.error();
}

bool names(const std::string& text, const std::string& option_and_value) {
  return text.starts_with(option_and_value + ": ") && text.size() > option_and_value.size() + 10;
}

TEST(TraceRecipe, TheUsualOneIsGood) { EXPECT_TRUE(check_recipe({}).ok()); }

TEST(TraceRecipe, ComplaintsNameOptionValueAndRemedy) {
  using R = TraceRecipe;
  EXPECT_TRUE(names(complaint([](R& r) { r.qps = 0; }), "--qps 0"));
  EXPECT_TRUE(names(complaint([](R& r) { r.qps = 4097; }), "--qps 4097"));
  EXPECT_TRUE(names(complaint([](R& r) { r.hosts = 0; }), "--hosts 0"));
  EXPECT_TRUE(names(complaint([](R& r) { r.hosts = 251; }), "--hosts 251"));
  EXPECT_TRUE(names(complaint([](R& r) { r.hosts = 200, r.qps = 4000; }), "--hosts 200"));
  EXPECT_TRUE(names(complaint([](R& r) { r.message = 1u << 25; }), "--message 33554432"));
  EXPECT_TRUE(names(complaint([](R& r) { r.message = 1u << 24, r.qps = 1000; }), "--message 16777216"));
  EXPECT_TRUE(
      names(complaint([](R& r) { r.pattern = TracePattern::kAtomic, r.message = 16; }), "--message 16"));
  EXPECT_TRUE(names(complaint([](R& r) { r.path_mtu = 1500; }), "--mtu 1500"));
  EXPECT_TRUE(names(complaint([](R& r) { r.duration = {}; }), "--duration 0"));
  EXPECT_TRUE(names(complaint([](R& r) { r.compute = {-1}; }), "--compute -1ns"));
  EXPECT_TRUE(names(complaint([](R& r) { r.join_after = {-5}; }), "--join-after -5ns"));
  EXPECT_TRUE(
      names(complaint([](R& r) { r.lan_latency = Duration::seconds(1); }), "--lan-latency 1000000000ns"));
  EXPECT_TRUE(names(complaint([](R& r) { r.distance_km = -1; }), "--distance -1.000000"));
  EXPECT_TRUE(names(complaint([](R& r) { r.rate = {1000}; }), "--rate 1000"));
  EXPECT_TRUE(names(complaint([](R& r) { r.loss = 0.5; }), "--loss 0.500000"));
  EXPECT_TRUE(names(complaint([](R& r) { r.ecn = 2; }), "--ecn 2.000000"));
  EXPECT_TRUE(names(complaint([](R& r) { r.hide = -0.5; }), "--hide -0.500000"));
  EXPECT_TRUE(names(complaint([](R& r) { r.vlans = {4095}; }), "--vlan 4095"));
  EXPECT_TRUE(names(complaint([](R& r) { r.vlans = {1, 2, 3}; }), "--vlan 3"));
}

}  // namespace
}  // namespace matchrdma
