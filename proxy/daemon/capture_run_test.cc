#include "proxy/daemon/capture_run.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "dataplane/base/test_folder.h"
#include "pcap/capture_reader.h"

namespace matchrdma::daemon {
namespace {

struct CaptureRunTest : testing::Test {
  std::unique_ptr<CaptureRun> start(const service::CaptureRequest& what) {
    auto r =
        CaptureRun::start(what, folder / "", {"north", "south"}, Instant{}, Duration::seconds(1'700'000'000));
    EXPECT_TRUE(r.ok()) << (r.ok() ? "" : r.error());
    return r.ok() ? std::move(*r) : nullptr;
  }
  static service::CaptureRequest request() {
    service::CaptureRequest what;
    what.file = "c.pcapng";
    what.max_packets = 3;
    what.max_bytes = 1 << 20;
    what.max_time = Duration::seconds(10);
    return what;
  }
  static void packet(CaptureRun& run, uint8_t fill) {
    run.tap()->offer({1, Side::kWan, Instant{} + Duration::millis(fill), std::vector<uint8_t>(60, fill), "in"});
  }

  test::TestFolder folder;
};

TEST_F(CaptureRunTest, EndsAtItsLimitWithAWholeFile) {
  const auto run = start(request());
  for (uint8_t i = 1; i <= 5; ++i) packet(*run, i);
  run->pump(Instant{} + Duration::seconds(1));
  EXPECT_FALSE(run->status().running);
  EXPECT_EQ(run->status().packets, 3u);
  EXPECT_NE(run->status().text.find("as many packets"), std::string::npos);
  auto file = CaptureReader::open(folder / "c.pcapng");
  ASSERT_TRUE(file.ok()) << file.error();
  CapturedPacket p;
  for (uint8_t i = 1; i <= 3; ++i) {
    ASSERT_EQ(file->next(p), ReadStatus::kPacket) << file->message();
    EXPECT_EQ(p.data[0], i);
    EXPECT_EQ(p.time.ns, 1'700'000'000'000'000'000 + int64_t{i} * 1'000'000);
  }
  EXPECT_EQ(file->next(p), ReadStatus::kEnd) << file->message();
}

TEST_F(CaptureRunTest, EndsWhenItsTimeIsOverOrItIsStopped) {
  auto what = request();
  const auto timed = start(what);
  packet(*timed, 1);
  timed->pump(Instant{} + Duration::seconds(9));
  EXPECT_TRUE(timed->status().running);
  timed->pump(Instant{} + Duration::seconds(10));
  EXPECT_FALSE(timed->status().running);
  what.file = "d.pcapng";
  const auto stopped = start(what);
  packet(*stopped, 1);
  stopped->stop(Instant{} + Duration::seconds(1));
  EXPECT_EQ(stopped->status().packets, 1u);
  EXPECT_EQ(stopped->status().text, "stopped");
  what.file = "e.pcapng";
  what.max_bytes = 1;
  const auto small = start(what);
  packet(*small, 1);
  packet(*small, 2);
  small->pump(Instant{} + Duration::seconds(1));
  EXPECT_EQ(small->status().packets, 1u);
}

// What a status says of a file is what its readers find in it, and what the disk did not take is missed.
TEST_F(CaptureRunTest, CountsOnlyWhatAFullDiskTook) {
  auto what = request();
  what.max_packets = 10'000;
  const auto run = start(what);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{100'000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  uint64_t offered = 0;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 1000 && run->status().running; ++i, ++offered) packet(*run, static_cast<uint8_t>(i));
    run->pump(Instant{} + Duration::seconds(1));
  }
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_FALSE(run->status().running);
  EXPECT_NE(run->status().text.find("check the free space of the disk"), std::string::npos);
  auto file = CaptureReader::open(folder / "c.pcapng");
  ASSERT_TRUE(file.ok()) << file.error();
  CapturedPacket p;
  uint64_t read = 0;
  while (file->next(p) == ReadStatus::kPacket) ++read;
  EXPECT_EQ(file->message(), "");
  EXPECT_GT(read, 0u);
  EXPECT_EQ(run->status().packets, read);
  EXPECT_EQ(run->status().bytes, std::filesystem::file_size(folder / "c.pcapng"));
  EXPECT_EQ(run->status().missed, offered - read);
}

TEST_F(CaptureRunTest, StatusSpeaksOfTheFile) {
  const auto run = start(request());
  packet(*run, 1);
  run->pump(Instant{} + Duration::seconds(1));
  EXPECT_TRUE(run->status().running);
  EXPECT_EQ(run->status().packets, 1u);
  EXPECT_EQ(run->status().bytes, std::filesystem::file_size(folder / "c.pcapng"));
}

TEST_F(CaptureRunTest, NeverOverwrites) {
  ASSERT_NE(start(request()), nullptr);
  const auto again = CaptureRun::start(request(), folder / "", {"north"}, Instant{}, Duration{});
  ASSERT_FALSE(again.ok());
  EXPECT_NE(again.error().find("c.pcapng"), std::string::npos);
}

}  // namespace
}  // namespace matchrdma::daemon
