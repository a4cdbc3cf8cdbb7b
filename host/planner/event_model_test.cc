// Formulas against messages played packet by packet.
#include "host/planner/event_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "host/planner/completion.h"

namespace matchrdma::planner {
namespace {

struct Case {
  Duration rtt;
  int64_t gbps;
  double loss;
  uint64_t bytes;
};

/// 10 to 5000 km at 100 and 400 Gb/s, few and many losses, from one packet to many rounds.
std::vector<Case> grid() {
  constexpr uint64_t kMiB = 1 << 20;
  std::vector<Case> all;
  for (const int64_t km : {10, 100, 1000, 5000})
    for (const double loss : {1e-5, 1e-3, 1e-2, 0.05, 0.2})
      for (const uint64_t bytes : {uint64_t{4096}, uint64_t{300'000}, 4 * kMiB, 32 * kMiB}) {
        // The long ones where they make a difference: what sanitizers slow down has to end.
        if (bytes == 32 * kMiB && (km == 1000 || (loss != 1e-3 && loss != 0.2))) continue;
        all.push_back({Duration::nanos(2 * kNanosPerKm * km), km == 100 ? 100 : 400, loss, bytes});
      }
  all.push_back({Duration::millis(25), 400, 1e-5, 128 * kMiB});
  return all;
}

/// The largest difference of the distributions, in all of the grid 3 % at most.
void agrees(const Scheme& scheme) {
  constexpr int kMessages = 5000;
  double most = 0;
  uint64_t seed = 1;
  for (const Case& c : grid()) {
    Link link;
    link.rtt = c.rtt;
    link.rate = {c.gbps * 1'000'000'000};
    link.loss = c.loss;
    const Completion formula(link, c.bytes, scheme);
    EventModel model(link, c.bytes, scheme, ++seed);
    std::vector<int64_t> played;
    double sum = 0, sent = 0;
    for (int i = 0; i < kMessages; ++i) {
      played.push_back(model.next());
      sum += static_cast<double>(played.back());
      sent += static_cast<double>(model.packets_sent());
    }
    const std::string what = scheme_name(scheme) + ", RTT " + std::to_string(c.rtt.ns) + " ns, loss " +
                             std::to_string(c.loss) + ", " + std::to_string(c.bytes) + " bytes";
    const double difference = largest_difference(formula, std::move(played));
    most = std::max(most, difference);
    EXPECT_LE(difference, 0.03) << what;
    EXPECT_NEAR(formula.mean() / formula.line().seconds(sum / kMessages), 1, 0.02) << what;
    EXPECT_NEAR(formula.line_bytes() / (sent / kMessages * formula.line().packet_bytes), 1, 0.03) << what;
  }
  testing::Test::RecordProperty("largest_difference", std::to_string(most));
  std::cout << scheme_name(scheme) << ": largest difference " << most << '\n';
}

TEST(EventModel, AgreesWithSelectiveRepeat) { agrees({}); }
TEST(EventModel, AgreesWithErasureCode) { agrees({Method::kErasureCode, {32, 8}}); }
TEST(EventModel, AgreesWithXor) { agrees({Method::kErasureCode, {4, 1}}); }
TEST(EventModel, AgreesWithGoBackN) { agrees({Method::kGoBackN, {}}); }

// A check that could not fail would be none: the law of one scheme is not that of another, nor of twice the
// loss.
TEST(EventModel, DisagreesWithAnythingElse) {
  Link link;
  link.rtt = Duration::millis(25);
  link.rate = {400'000'000'000};
  link.loss = 1e-5;
  constexpr uint64_t kBytes = 128 << 20;
  EventModel model(link, kBytes, {}, 1);
  std::vector<int64_t> played;
  for (int i = 0; i < 2000; ++i) played.push_back(model.next());
  EXPECT_LE(largest_difference(Completion(link, kBytes, {}), played), 0.03);
  EXPECT_GT(largest_difference(Completion(link, kBytes, {Method::kErasureCode, {32, 8}}), played), 0.5);
  link.loss = 2e-5;
  EXPECT_GT(largest_difference(Completion(link, kBytes, {}), played), 0.15);
}

TEST(EventModel, SameSeedSameMessages) {
  Link link;
  link.rtt = Duration::millis(1);
  link.rate = {100'000'000'000};
  link.loss = 0.01;
  EventModel a(link, 1 << 20, {}, 3), b(link, 1 << 20, {}, 3), c(link, 1 << 20, {}, 4);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const int64_t n = a.next();
    EXPECT_EQ(n, b.next());
    differs = differs || n != c.next();
  }
  EXPECT_TRUE(differs);
}

TEST(EventModel, FewMessagesMayDifferMore) {
  EXPECT_EQ(allowed_difference(1'000'000), 0.03);
  EXPECT_EQ(allowed_difference(10'000), 0.03);
  EXPECT_GT(allowed_difference(1000), 0.08);
}

}  // namespace
}  // namespace matchrdma::planner
