#include "controlplane/service/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "controlplane/service/test_daemon.h"

namespace matchrdma::service {
namespace {

std::string scrape() { return metrics_text(test_view().get()); }

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(Metrics, ValuesOfTheView) {
  const std::string text = scrape();
  EXPECT_TRUE(has_line(text, "matchrdma_pseudo_acks_total{worker=\"1\"} 42")) << text;
  EXPECT_TRUE(has_line(text, "matchrdma_reason_packets_total{worker=\"0\",reason=\"icrc_wan\"} 1"));
  EXPECT_TRUE(has_line(text, "matchrdma_worker_busy_cycles_total{worker=\"0\"} 3000000000"));
  EXPECT_TRUE(has_line(text, "matchrdma_peer_round_trip_seconds{span=\"north\"} 0.01"));
  EXPECT_TRUE(has_line(text, "matchrdma_budget_rate_bytes_per_second{span=\"north\"} 25000000000"));
  EXPECT_TRUE(has_line(text, "matchrdma_custody_packets{worker=\"1\"} 17"));
  EXPECT_TRUE(has_line(text, "matchrdma_custody_oldest_age_seconds{worker=\"1\"} 0.012"));
  EXPECT_TRUE(has_line(text, "matchrdma_custody_age_seconds_count{worker=\"0\"} 1"));
  EXPECT_TRUE(has_line(text, "matchrdma_custody_age_seconds_bucket{worker=\"0\",le=\"+Inf\"} 1"));
  EXPECT_TRUE(has_line(text, "matchrdma_gate_wait_seconds_sum{worker=\"0\"} 0.002"));
  EXPECT_TRUE(has_line(text, "matchrdma_receivers_active{span=\"north\"} 1"));
  EXPECT_TRUE(has_line(text, "matchrdma_receivers_saturated{span=\"north\"} 1"));
  EXPECT_TRUE(has_line(text, "matchrdma_receivers_capacity_bytes_per_second{span=\"north\"} 7500000000"));
  EXPECT_TRUE(has_line(text, "matchrdma_receivers_budget_bytes_per_second{span=\"north\"} 7250000000"));
  EXPECT_TRUE(has_line(text, "matchrdma_receivers_lowered_budgets_total{span=\"north\"} 3"));
  auto unmeasured = test_view();
  unmeasured->peers[0].rtt = {};
  EXPECT_EQ(metrics_text(unmeasured.get()).find("matchrdma_peer_round_trip_seconds{"), std::string::npos);
}

TEST(Metrics, OnlyTheNewestSlotOfAReceiverThatIsActiveCounts) {
  auto v = test_view();
  SlotRow newer = v->slots[0].rows[0];
  newer.slot.why.slot += 1;
  newer.slot.why.c = 40;
  v->slots[0].rows.push_back(newer);
  EXPECT_TRUE(has_line(metrics_text(v.get()), "matchrdma_receivers_active{span=\"north\"} 1"));
  EXPECT_TRUE(has_line(metrics_text(v.get()),
                       "matchrdma_receivers_capacity_bytes_per_second{span=\"north\"} 5000000000"));
  v->slots[0].now += 5001;  // a second of slots later
  EXPECT_TRUE(has_line(metrics_text(v.get()), "matchrdma_receivers_active{span=\"north\"} 0"));
}

TEST(Metrics, NothingYet) { EXPECT_EQ(metrics_text(nullptr), ""); }

// A receiver or a QP as a label would make as many series as there are flows.
TEST(Metrics, LabelsAreBounded) {
  const std::string text = scrape();
  std::set<std::string> labels;
  const std::regex label("[{,]([a-z_]+)=\"");
  for (auto it = std::sregex_iterator(text.begin(), text.end(), label); it != std::sregex_iterator(); ++it) {
    labels.insert((*it)[1]);
  }
  const std::set<std::string> allowed{"worker", "span",  "port",    "side", "reason",
                                      "role",   "state", "version", "le"};
  for (const std::string& l : labels) EXPECT_TRUE(allowed.contains(l)) << l;
  EXPECT_EQ(text.find("10.0."), std::string::npos);
  const auto lines = [](const std::string& s) { return std::count(s.begin(), s.end(), '\n'); };
  EXPECT_EQ(lines(metrics_text(test_view(2000).get())), lines(text)) << "more flows must not mean more series";
}

TEST(Metrics, EveryScrapedMetricIsDescribedAndHasHelp) {
  std::set<std::string> described;
  for (const MetricInfo& m : metric_infos()) {
    EXPECT_TRUE(described.insert(m.name).second) << m.name << " stands there twice";
    EXPECT_FALSE(m.help.empty()) << m.name;
    EXPECT_EQ(m.name.ends_with("_total"), m.type == "counter") << m.name;
    for (const char* unit : {"bytes", "seconds"}) {
      EXPECT_TRUE(m.unit != unit || m.name.find(std::string("_") + unit) != std::string::npos) << m.name;
    }
  }
  std::istringstream lines(scrape());
  std::string line;
  while (std::getline(lines, line)) {
    if (!line.starts_with("# HELP ")) continue;
    const std::string name = line.substr(7, line.find(' ', 7) - 7);
    EXPECT_TRUE(described.contains(name)) << name;
  }
}

TEST(Metrics, Document) {
  const std::string path = std::string(MATCHRDMA_SOURCE_DIR) + "/docs/metrics.md";
  if (const char* mode = std::getenv("MATCHRDMA_GOLDEN"); mode != nullptr && std::string(mode) == "write") {
    std::ofstream(path) << metrics_document();
  }
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), metrics_document())
      << "docs/metrics.md differs; write it anew with MATCHRDMA_GOLDEN=write";
}

}  // namespace
}  // namespace matchrdma::service
