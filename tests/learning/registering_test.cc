// What a first pass over a capture would register must never be wrong (C6): made traffic of every kind,
// compared with the truth about it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "pcap/capture_bytes.h"
#include "pcap/make/make_trace.h"
#include "pcap/trace_flows.h"
#include "tests/learning/recipe.h"

namespace matchrdma::learning {
namespace {

constexpr uint64_t kSeeds = 40 * kKindCount;

/// A capture in memory that keeps only `snaplen` bytes of every packet.
class MemoryCapture final : public PacketSink {
 public:
  explicit MemoryCapture(size_t snaplen) : snaplen_(snaplen) { file_.file_header(0xa1b23c4d); }
  Result<void> packet(Instant time, Bytes frame) override {
    const auto seconds = static_cast<uint32_t>(time.ns / 1'000'000'000);
    file_.record(
        seconds, static_cast<uint32_t>(time.ns % 1'000'000'000),
        {frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(std::min(snaplen_, frame.size()))});
    return {};
  }
  TraceFlows scan() const {
    auto reader = CaptureReader::from_bytes(file_.bytes, "made");
    return std::move(*TraceFlows::scan(std::move(*reader), std::nullopt, nullptr));
  }

 private:
  size_t snaplen_;
  test::CaptureBytes file_{false};
};

struct Made {
  TraceTruth truth;
  std::vector<Registration> registered;
  size_t truncated = 0;
};

Made made(const TraceRecipe& r, size_t snaplen = SIZE_MAX) {
  MemoryCapture capture(snaplen);
  auto truth = make_trace(r, capture);
  EXPECT_TRUE(truth.ok());
  const TraceFlows flows = capture.scan();
  return {std::move(*truth), flows.registrations(Completion::kEarly), flows.counts().truncated};
}

bool captured(const TracePair& p) { return p.a.packets + p.b.packets > 0; }

/// The connection of both QPs, in all of the capture.
bool right(const Registration& reg, const TraceTruth& truth) {
  const auto is = [](const Registration::End& e, const TraceEnd& t) { return e.ip == t.ip && e.qpn == t.qpn; };
  bool found = false;
  for (const TracePair& p : truth.pairs) {
    const bool both = (is(reg.a, p.a) && is(reg.b, p.b)) || (is(reg.a, p.b) && is(reg.b, p.a));
    const bool one = is(reg.a, p.a) || is(reg.a, p.b) || is(reg.b, p.a) || is(reg.b, p.b);
    if (!captured(p)) continue;
    if (one && !both) return false;
    found = found || both;
  }
  return found;
}

TEST(Registering, NeverNamesAWrongPair) {
  struct Row {
    uint64_t there = 0, registered = 0, wrong = 0;
  };
  std::array<Row, kKindCount> rows;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const TraceRecipe r = random_recipe(seed);
    const Made m = made(r);
    Row& row = rows[kind_of(seed)];
    for (const TracePair& p : m.truth.pairs) row.there += captured(p) ? 1 : 0;
    row.registered += m.registered.size();
    for (const Registration& reg : m.registered) {
      if (right(reg, m.truth)) continue;
      ++row.wrong;
      ADD_FAILURE() << describe(r) << ": QP " << reg.a.qpn.v << " with QP " << reg.b.qpn.v;
    }
  }
  for (size_t k = 0; k < kKindCount; ++k) {
    std::printf("%-38s %6llu pairs %6llu registered %4llu wrong\n", kKinds[k].name,
                static_cast<unsigned long long>(rows[k].there),
                static_cast<unsigned long long>(rows[k].registered),
                static_cast<unsigned long long>(rows[k].wrong));
    const Allowed allowed = kKinds[k].allowed;
    if (allowed == Allowed::kNone) {
      EXPECT_EQ(rows[k].registered, 0u) << kKinds[k].name;
    } else if (allowed == Allowed::kAll) {
      // Silence alone would keep the promise too. Two ports of 64 may be the same by chance.
      EXPECT_GE(rows[k].registered * 100, rows[k].there * 95) << kKinds[k].name;
    }
  }
}

// A packet whose end is missing tells no PSN: what else was seen may fit the wrong partner.
TEST(Registering, CutPacketsNameNobody) {
  for (uint64_t seed = 1; seed <= kKindCount; ++seed) {
    const Made m = made(random_recipe(seed), 100);
    EXPECT_GT(m.truncated, 0u);
    EXPECT_TRUE(m.registered.empty()) << describe(random_recipe(seed));
  }
}

}  // namespace
}  // namespace matchrdma::learning
