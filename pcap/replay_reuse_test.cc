// A QP pair that lives twice in one capture: same addresses and QPNs, other starting PSNs.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "pcap/replay_options.h"
#include "pcap/test_conversation.h"

namespace matchrdma {
namespace {

namespace fs = std::filesystem;
using test::Conversation;

constexpr uint32_t kMessages = 400, kFirst = 0x200000;

/// Messages from PSN `start`, each acknowledged.
void live(Conversation& c, uint32_t start, uint32_t payload) {
  for (uint32_t m = 0; m < kMessages; ++m) {
    const uint32_t psn = (start + m) & Psn::kMask;
    c.a(Conversation::request(op::kRcSendOnly, 0x12, psn, payload)).b(Conversation::ack(0x11, psn, m + 1));
  }
}

/// Frames of one host in a capture.
std::vector<std::vector<uint8_t>> frames_from(const std::string& path, const IpAddress& host) {
  std::vector<std::vector<uint8_t>> frames;
  auto reader = CaptureReader::open(path);
  CapturedPacket p;
  while (reader && reader->next(p) == ReadStatus::kPacket)
    if (parse_frame(p.data).frame.source() == host) frames.emplace_back(p.data.begin(), p.data.end());
  return frames;
}

struct Replayed {
  ReplayResult result;
  std::vector<std::vector<uint8_t>> sent, arrived;  ///< of host A
};

Replayed replay_of(const Conversation& c) {
  const fs::path folder =
      fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
  fs::create_directories(folder);
  ReplayOptions o;
  o.register_flows = true;
  o.trace = (folder / "trace.pcap").string();
  o.write_lan_b = (folder / "b.pcap").string();
  std::ofstream(o.trace, std::ios::binary)
      .write(reinterpret_cast<const char*>(c.bytes().data()), static_cast<std::streamsize>(c.bytes().size()));
  auto r = replay(o);
  EXPECT_TRUE(r.ok());
  const IpAddress a = Conversation::net(true, 0).src;
  Replayed all{std::move(*r), frames_from(o.trace, a), frames_from(o.write_lan_b, a)};
  fs::remove_all(folder);
  return all;
}

std::vector<std::string> learned(const ReplayResult& r) {
  std::vector<std::string> by;
  for (const ReplayResult::Learned& l : r.learned) by.push_back(l.by);
  return by;
}

void expect_sound(const DeliveryReport& d) {
  EXPECT_EQ(d.lost, 0u);
  EXPECT_TRUE(d.in_order);
  EXPECT_TRUE(d.bytes_identical);
  EXPECT_EQ(d.unknown_out, 0u);
}

/// `start` of the second life.
void expect_second_life_arrives(uint32_t start) {
  SCOPED_TRACE(testing::Message() << "second life from PSN " << start);
  Conversation c;
  live(c, kFirst, 64);
  c.pause(2);
  live(c, start, 128);
  const Replayed r = replay_of(c);
  EXPECT_EQ(learned(r.result), (std::vector<std::string>{"none", "none", "none", "none"}));
  EXPECT_EQ(r.result.released_without_cause, 0u);
  expect_sound(r.result.delivery);
  EXPECT_TRUE(r.arrived == r.sent);
}

TEST(ReplayReuse, SecondLifeArrivesWhole) {
  expect_second_life_arrives(kFirst);                       // the same numbers again
  expect_second_life_arrives(kFirst + kMessages / 2);       // overlapping
  expect_second_life_arrives(kFirst + kMessages + 0x8000);  // ahead
  expect_second_life_arrives(kFirst + 0x700000);            // far ahead
  expect_second_life_arrives(kFirst - 200);                 // just below, so that it runs into the first
  expect_second_life_arrives(kFirst - 0x20000);             // below
  expect_second_life_arrives(0);                            // far below
}

// A QP that speaks to itself is no pair: it is passed over and named, and the replay goes on.
TEST(ReplayReuse, WhatCannotBeRegisteredIsSaid) {
  Conversation c;
  L2L3 self = Conversation::net(true, 0xc001);
  self.dst = self.src;
  const auto add = [&](const RoceSpec& r) {
    std::vector<uint8_t> f(roce_frame_size(self, r));
    build_roce(self, r, f);
    c.add(f);
  };
  for (uint32_t m = 0; m < 8; ++m) {
    add(Conversation::request(op::kRcSendOnly, 0x12, kFirst + m));
    add(Conversation::ack(0x12, kFirst + m, m + 1));
  }
  const Replayed r = replay_of(c);
  ASSERT_EQ(r.result.warnings.size(), 1u);
  EXPECT_NE(r.result.warnings[0].find("QP 18 with QP 18 was not registered: "), std::string::npos);
  EXPECT_EQ(r.result.packets_fed, 16u);
}

// What was never acknowledged may be sent again however late: the same life.
TEST(ReplayReuse, LateRetransmissionIsNoSecondLife) {
  Conversation c;
  live(c, kFirst, 64);
  const RoceSpec last = Conversation::request(op::kRcSendOnly, 0x12, kFirst + kMessages);
  c.a(last).pause(3).a(last).b(Conversation::ack(0x11, kFirst + kMessages, kMessages + 1));
  const Replayed r = replay_of(c);
  EXPECT_EQ(learned(r.result), (std::vector<std::string>{"registration", "registration"}));
  expect_sound(r.result.delivery);
}

}  // namespace
}  // namespace matchrdma
