#include "pcap/capture_writer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "dataplane/base/prng.h"
#include "pcap/capture_reader.h"

namespace matchrdma {
namespace {

class CaptureWriterTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("matchrdma_writer_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    path_ = (folder_ / "out.pcap").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
  std::string path_;
};

// More bytes than the reader's buffer, so that records cross its edge.
TEST_F(CaptureWriterTest, WhatIsWrittenIsRead) {
  struct Packet {
    Instant time;
    std::vector<uint8_t> data;
  };
  Prng prng(7);
  std::vector<Packet> packets;
  for (int i = 0; i < 400; ++i) {
    std::vector<uint8_t> data(i == 0 ? kMaxCapturedBytes : i == 1 ? 0 : prng.below(20000));
    for (uint8_t& b : data) b = static_cast<uint8_t>(prng.next());
    packets.push_back({Instant{prng.between(0, int64_t{0xffffffff} * 1'000'000'000)}, std::move(data)});
  }
  auto w = CaptureWriter::open(path_);
  ASSERT_TRUE(w.ok()) << w.error();
  for (const Packet& p : packets) {
    auto r = w->write(p.time, p.data, p.data.empty() ? 60 : 0);
    ASSERT_TRUE(r.ok()) << r.error();
  }
  EXPECT_EQ(w->packets_written(), packets.size());
  auto closed = w->close();
  ASSERT_TRUE(closed.ok()) << closed.error();

  auto r = CaptureReader::open(path_);
  ASSERT_TRUE(r.ok()) << r.error();
  CapturedPacket got;
  for (const Packet& p : packets) {
    ASSERT_EQ(r->next(got), ReadStatus::kPacket) << r->message();
    EXPECT_EQ(got.time, p.time);
    EXPECT_EQ(got.original_length, p.data.empty() ? 60 : p.data.size());
    ASSERT_TRUE(std::equal(got.data.begin(), got.data.end(), p.data.begin(), p.data.end()));
  }
  EXPECT_EQ(r->next(got), ReadStatus::kEnd) << r->message();
  EXPECT_EQ(r->bytes_read(), std::filesystem::file_size(path_));
}

TEST_F(CaptureWriterTest, FlushMakesPacketsVisible) {
  auto w = CaptureWriter::open(path_);
  ASSERT_TRUE(w.ok()) << w.error();
  const uint8_t data[4] = {1, 2, 3, 4};
  ASSERT_TRUE(w->write(Instant{5}, data).ok());
  ASSERT_TRUE(w->flush().ok());
  EXPECT_EQ(std::filesystem::file_size(path_), 24u + 16u + 4u);
}

TEST_F(CaptureWriterTest, RefusesWhatPcapCannotHold) {
  const uint8_t data[1] = {0};
  const std::vector<uint8_t> large(kMaxCapturedBytes + 1);
  const std::pair<Instant, Bytes> cases[] = {
      {Instant{-1}, Bytes{data}}, {Instant::never(), Bytes{data}}, {Instant{0}, Bytes{large}}};
  for (const auto& [time, bytes] : cases) {
    auto w = CaptureWriter::open(path_);
    ASSERT_TRUE(w.ok()) << w.error();
    auto r = w->write(time, bytes);
    ASSERT_FALSE(r.ok());
    EXPECT_NE(r.error().find("packet 1: "), std::string::npos) << r.error();
    auto again = w->write(Instant{0}, data);
    ASSERT_FALSE(again.ok());
    EXPECT_EQ(again.error(), r.error());
  }
}

TEST_F(CaptureWriterTest, TellsThatAFileCannotBeCreated) {
  auto w = CaptureWriter::open((folder_ / "none" / "out.pcap").string());
  ASSERT_FALSE(w.ok());
  EXPECT_NE(w.error().find("cannot be created: No such file"), std::string::npos) << w.error();
}

TEST_F(CaptureWriterTest, TellsThatTheDiskIsFull) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
  auto w = CaptureWriter::open("/dev/full");
  ASSERT_TRUE(w.ok()) << w.error();
  const uint8_t data[4] = {1, 2, 3, 4};
  ASSERT_TRUE(w->write(Instant{5}, data).ok()) << "small writes stay in the buffer";
  auto closed = w->close();
  ASSERT_FALSE(closed.ok());
  EXPECT_NE(closed.error().find("No space left"), std::string::npos) << closed.error();
}

TEST_F(CaptureWriterTest, NothingAfterClose) {
  auto w = CaptureWriter::open(path_);
  ASSERT_TRUE(w.ok()) << w.error();
  ASSERT_TRUE(w->close().ok());
  const uint8_t data[1] = {0};
  auto r = w->write(Instant{0}, data);
  ASSERT_FALSE(r.ok());
  EXPECT_NE(r.error().find("closed already"), std::string::npos) << r.error();
}

}  // namespace
}  // namespace matchrdma
