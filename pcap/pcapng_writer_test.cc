#include "pcap/pcapng_writer.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "dataplane/base/test_folder.h"
#include "pcap/capture_reader.h"

namespace matchrdma {
namespace {

struct PcapngWriterTest : testing::Test {
  test::TestFolder folder;
  std::string path = folder / "out.pcapng";
  std::vector<std::string> ports{"lan0", "wan0"};
};

TEST_F(PcapngWriterTest, WhatIsWrittenIsRead) {
  auto w = PcapngWriter::open(path, ports);
  ASSERT_TRUE(w.ok()) << w.error();
  for (uint32_t size = 0; size < 9; ++size) {
    const std::vector<uint8_t> data(size, static_cast<uint8_t>(size));
    const Instant time{1'700'000'000'123'456'789 + size};
    ASSERT_TRUE(w->write(size % 2, time, data, size == 8 ? 1500 : 0, size % 3 == 0 ? "icrc_wan" : "").ok());
  }
  ASSERT_TRUE(w->close().ok());
  EXPECT_EQ(w->packets_written(), 9u);
  EXPECT_EQ(w->bytes_written(), std::filesystem::file_size(path));
  auto r = CaptureReader::open(path);
  ASSERT_TRUE(r.ok()) << r.error();
  CapturedPacket p;
  for (uint32_t size = 0; size < 9; ++size) {
    ASSERT_EQ(r->next(p), ReadStatus::kPacket) << r->message();
    EXPECT_EQ(p.data.size(), size);
    EXPECT_EQ(p.time.ns, 1'700'000'000'123'456'789 + size);
    EXPECT_EQ(p.original_length, size == 8 ? 1500u : size);
  }
  EXPECT_EQ(r->next(p), ReadStatus::kEnd) << r->message();
}

TEST_F(PcapngWriterTest, RefusesWhatWouldSpoilAFile) {
  auto w = PcapngWriter::open(path, ports);
  ASSERT_TRUE(w.ok());
  const auto second = PcapngWriter::open(path, ports);
  ASSERT_FALSE(second.ok()) << "an existing file must stay";
  EXPECT_NE(second.error().find("not used yet"), std::string::npos);
  const std::vector<uint8_t> data(60);
  EXPECT_FALSE(w->write(2, Instant{1}, data).ok());
  EXPECT_FALSE(w->write(0, Instant{1}, data).ok()) << "an error stays";
}

TEST_F(PcapngWriterTest, FullDiskLeavesWholePackets) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{100'000, before.rlim_max};
  auto w = PcapngWriter::open(path, ports);
  ASSERT_TRUE(w.ok());
  setrlimit(RLIMIT_FSIZE, &small);
  const std::vector<uint8_t> data(1000);
  uint32_t written = 0;
  while (written < 1000 && w->write(0, Instant{1}, data).ok()) ++written;
  ++written;  // the one that failed was given to it, too
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_LT(written, 200u);
  const auto closed = w->close();
  ASSERT_FALSE(closed.ok());
  EXPECT_NE(closed.error().find("check the free space of the disk"), std::string::npos) << closed.error();
  auto r = CaptureReader::open(path);
  ASSERT_TRUE(r.ok()) << r.error();
  CapturedPacket p;
  uint32_t read = 0;
  while (r->next(p) == ReadStatus::kPacket) ++read;
  EXPECT_EQ(r->message(), "");
  EXPECT_GT(read, 50u);
  EXPECT_EQ(w->packets_written(), read);
  EXPECT_EQ(w->packets_lost(), written - read);
  EXPECT_EQ(w->bytes_written(), std::filesystem::file_size(path));
}

TEST_F(PcapngWriterTest, ClosedIsClosed) {
  auto w = PcapngWriter::open(path, ports);
  ASSERT_TRUE(w.ok());
  ASSERT_TRUE(w->close().ok());
  const std::vector<uint8_t> data(60);
  EXPECT_NE(w->write(0, Instant{1}, data).error().find("closed already"), std::string::npos);
}

}  // namespace
}  // namespace matchrdma
