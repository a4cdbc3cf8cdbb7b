#include "sim/workload/recorded_workload.h"

#include <gtest/gtest.h>

#include "sim/workload/test_sites.h"

namespace matchrdma::sim {
namespace {

using test::Sites;

constexpr SimTime us(int64_t t) { return SimTime{} + SimSpan::micros(t); }

RecordedMessage message(int64_t start_us, int64_t completed_us, uint32_t qp = 7) {
  return {.source = 0,
          .destination = 1,
          .qp = qp,
          .bytes = 10'000,
          .start = us(start_us),
          .completed = us(completed_us)};
}

/// Endpoints 0 and 1 are hosts 0 and 2, at both sites of a link of `km`.
struct Replay {
  Replay(int64_t km, std::vector<RecordedMessage> recording)
      : sites(km, 2), load(sites.net, std::move(recording), {0, 2}) {
    sites.run(load);
    EXPECT_TRUE(load.done());
  }
  const MessageRecord& operator[](size_t m) const { return load.messages()[m]; }
  Sites sites;
  RecordedWorkload load;
};

TEST(RecordedWorkload, GapsAfterCompletionsAreKept) {
  for (const int64_t km : {1, 1000}) {
    const Replay r(km, {message(100, 120), message(125, 150), message(150, 160), message(1160, 1170)});
    ASSERT_EQ(r.load.messages().size(), 4u);
    EXPECT_EQ(r.load.flows(), 1u);
    EXPECT_EQ(r[0].posted, us(0));  // where the recording begins
    EXPECT_EQ(r[1].posted, r[0].acknowledged + SimSpan::micros(5));
    EXPECT_EQ(r[2].posted, r[1].acknowledged);
    EXPECT_EQ(r[3].posted, r[2].acknowledged + SimSpan::micros(1000));
    EXPECT_GT(r[3].posted, us(3 * km * 10 + 1000));
  }
}

TEST(RecordedWorkload, WhatOverlappedOverlapsAndNoMoreIsOutstandingThanWas) {
  // Three at once; then one for each that completes, 3 us after it, and one more 1 us after that.
  std::vector<RecordedMessage> recording{message(0, 50),  message(2, 60),   message(4, 70),  message(53, 80),
                                         message(63, 90), message(64, 100), message(75, 110)};
  const Replay r(100, recording);
  EXPECT_EQ(r[1].posted, us(2));
  EXPECT_EQ(r[2].posted, us(4));
  EXPECT_EQ(r[3].posted, r[0].acknowledged + SimSpan::micros(3));
  EXPECT_EQ(r[4].posted, r[1].acknowledged + SimSpan::micros(3));
  EXPECT_EQ(r[5].posted, r[4].posted + SimSpan::micros(1));
  EXPECT_EQ(r[6].posted, r[2].acknowledged + SimSpan::micros(5));
}

TEST(RecordedWorkload, NothingWaitsForWhatHasNoRecordedEnd) {
  std::vector<RecordedMessage> recording;
  for (int64_t i = 0; i < 10; ++i) {
    recording.push_back(message(20 * i, 0));
    recording.back().completed = SimTime::never();
  }
  const Replay r(100, recording);
  for (size_t i = 0; i < 10; ++i) EXPECT_EQ(r[i].posted, us(20 * static_cast<int64_t>(i)));
}

TEST(RecordedWorkload, QpsDoNotWaitForEachOther) {
  const Replay r(100, {message(0, 10, 1), message(30, 40, 2), message(15, 25, 1), message(50, 60, 2)});
  EXPECT_EQ(r.load.flows(), 2u);
  EXPECT_EQ(r[0].posted, us(0));
  EXPECT_EQ(r[1].posted, us(30));  // its own time, and before the second of the other QP
  EXPECT_EQ(r[2].posted, r[0].acknowledged + SimSpan::micros(5));
  EXPECT_EQ(r[3].posted, r[1].acknowledged + SimSpan::micros(10));
}

TEST(RecordedWorkload, AReadsDataComesTheOtherWayAfterItsRequest) {
  RecordedMessage write = message(0, 10), read = message(12, 30), last = message(31, 40);
  read.read = true;
  std::swap(read.source, read.destination);
  const Replay r(100, {write, read, last});
  EXPECT_EQ(r.load.flows(), 2u);
  EXPECT_EQ(r.load.flow(r[1].flow).source, 2u);
  EXPECT_EQ(r.load.flow(r[1].flow).destination, 0u);
  // Asked 2 us after the WRITE; 500 us of fibre and two cables.
  EXPECT_EQ(r[1].posted, r[0].acknowledged + SimSpan::micros(2 + 502));
  EXPECT_EQ(r[2].posted, r[1].delivered + SimSpan::micros(1));  // complete where it was posted
}

TEST(RecordedWorkload, EmptyMessagesAndOtherOrdersAreTaken) {
  std::vector<RecordedMessage> recording{message(20, 30), message(0, 10)};
  recording[1].bytes = 0;
  const Replay r(1, recording);
  EXPECT_EQ(r[0].bytes, 1);
  EXPECT_EQ(r[1].bytes, 10'000);
  EXPECT_EQ(r[1].posted, r[0].acknowledged + SimSpan::micros(10));
}

}  // namespace
}  // namespace matchrdma::sim
