#include "proxy/plan_report.h"

#include <gtest/gtest.h>

#include <sstream>

#include "proxy/plan_picture.h"
#include "proxy/test_xml.h"

namespace matchrdma {
namespace {

PlanQuestion question(uint64_t message, double loss = 1e-5) {
  PlanQuestion q;
  q.link.rtt = Duration::millis(25);
  q.link.rate = {400'000'000'000};
  q.link.loss = loss;
  q.message = message;
  return q;
}

constexpr uint64_t kMiB = 1 << 20;

std::string chosen(const PlanAnswer& a) { return scheme_name(a.rows[a.choice].scheme); }

TEST(PlanReport, ChoosesAndSaysWhy) {
  const PlanAnswer middle = answer(question(128 * kMiB));
  EXPECT_EQ(chosen(middle), "EC(32,8)");
  EXPECT_NE(middle.reason.find("27.94 % of the messages lose a packet"), std::string::npos) << middle.reason;
  const PlanAnswer large = answer(question(8192 * kMiB));
  EXPECT_EQ(chosen(large), "SR");
  EXPECT_NE(large.reason.find("would take 42.950 ms, more than the 17.19"), std::string::npos) << large.reason;
  const PlanAnswer safe = answer(question(128 * kMiB, 0));
  EXPECT_EQ(chosen(safe), "SR");
  EXPECT_NE(safe.reason.find("no packet is lost"), std::string::npos);
  const PlanAnswer equal = answer(question(kMiB, 2e-5));
  EXPECT_EQ(chosen(equal), "SR");
  EXPECT_NE(equal.reason.find("less than 1 %"), std::string::npos) << equal.reason;
}

// One that is XOR itself is not listed twice.
TEST(PlanReport, ListsEachSchemeOnce) {
  EXPECT_EQ(plan_schemes({32, 8}).size(), 4u);
  EXPECT_EQ(plan_schemes({4, 1}).size(), 3u);
  EXPECT_EQ(scheme_name(plan_schemes({2, 6})[2]), "XOR(1,1)");
}

TEST(PlanReport, TableAndJsonSayTheSame) {
  const PlanAnswer a = answer(question(128 * kMiB));
  std::ostringstream out;
  print_plan(out, a);
  const auto j = plan_json(a);
  for (const auto& row : j["schemes"]) {
    char mean[32];
    std::snprintf(mean, sizeof mean, "%.3f ms", row["mean_s"].get<double>() * 1e3);
    EXPECT_NE(out.str().find(mean), std::string::npos) << mean << " is not in\n" << out.str();
  }
  EXPECT_EQ(j["choice"], "EC(32,8)");
  EXPECT_EQ(j["beats_sr"][0]["begins_bytes"], 12288);
  EXPECT_FALSE(j.contains("messages_played"));
}

TEST(PlanPicture, IsWellFormedAndHasAllCurves) {
  const std::string svg = plan_svg(question(kMiB));
  EXPECT_EQ(broken_xml(svg), "");
  EXPECT_EQ(count(svg, "<path class=\"series\""), 9u);
  EXPECT_EQ(count(svg, ">loss-free</text>"), 1u);
  for (const char* name : {">SR</text>", ">EC(32,8)</text>", ">XOR(4,1)</text>", ">go-back-N</text>"})
    EXPECT_EQ(count(svg, name), 2u) << name;
}

}  // namespace
}  // namespace matchrdma
