#include "pcap/replay_causality.h"

#include <gtest/gtest.h>

#include "model/packet_arena.h"
#include "pcap/replay_hosts.h"
#include "pcap/test_conversation.h"

namespace matchrdma {
namespace {

using test::Conversation;

struct Replayed {
  explicit Replayed(const Conversation& conversation) : c(conversation), flows(c.scan()), causality(flows) {}
  Dependency captured(size_t i) { return causality.captured(c.view(i, flows), Conversation::time_of(i)); }
  void delivered(size_t i, int64_t ns) { causality.delivered(c.view(i, flows), Instant{ns}); }
  Conversation c;
  TraceFlows flows;
  Causality causality;
};

TEST(Causality, AckWaitsForItsRequest) {
  Conversation c;
  c.a(Conversation::request(op::kRcSendOnly, 0x12, 10)).a(Conversation::request(op::kRcSendOnly, 0x12, 11));
  c.b(Conversation::ack(0x11, 10, 1)).b(Conversation::ack(0x11, 11, 2));
  Replayed r(c);
  EXPECT_EQ(r.captured(0).kind, Dependency::Kind::kNone);
  r.captured(1);
  const Dependency d = r.captured(2);
  EXPECT_EQ(d.kind, Dependency::Kind::kRequest);
  EXPECT_EQ(d.turnaround, Duration::micros(2));
  EXPECT_FALSE(r.causality.fulfilled(d));
  r.delivered(1, 50);
  EXPECT_FALSE(r.causality.fulfilled(d));
  r.delivered(0, 70);
  EXPECT_EQ(r.causality.fulfilled(d), Instant{70});
  r.delivered(0, 90);  // later copies change nothing
  EXPECT_EQ(r.causality.fulfilled(d), Instant{70});
}

TEST(Causality, NakWaitsForTheRequestThatRevealedTheGap) {
  Conversation c;
  c.a(Conversation::request(op::kRcSendOnly, 0x12, 10)).a(Conversation::request(op::kRcSendOnly, 0x12, 12));
  c.b(Conversation::ack(0x11, 11, 1, kNakSequence));
  Replayed r(c);
  r.captured(0);
  r.captured(1);
  const Dependency d = r.captured(2);
  EXPECT_EQ(d.kind, Dependency::Kind::kRequest);
  EXPECT_EQ(d.seq, 12);
}

TEST(Causality, ResponseWaitsForItsCopyOfTheRead) {
  Conversation c;
  RoceSpec read = Conversation::request(op::kRcReadReq, 0x12, 10);
  read.dma_length = 100;
  RoceSpec response;
  response.opcode = op::kRcReadRespOnly;
  response.dest_qp = Qpn{0x11};
  response.psn = Psn{10};
  response.msn = Msn{1};
  response.syndrome = 31;
  c.a(read).b(response).a(read).b(response);
  Replayed r(c);
  r.captured(0);
  const Dependency first = r.captured(1);
  r.captured(2);
  const Dependency second = r.captured(3);
  EXPECT_EQ(first.kind, Dependency::Kind::kReadCopy);
  EXPECT_EQ(first.copy, 0u);
  EXPECT_EQ(second.copy, 1u);
  r.delivered(0, 100);
  EXPECT_EQ(r.causality.fulfilled(first), Instant{100});
  EXPECT_FALSE(r.causality.fulfilled(second));
  r.delivered(2, 200);
  EXPECT_EQ(r.causality.fulfilled(second), Instant{200});
}

/// Fed in file order; entries of host B.
TEST(ReplayHosts, AHostKeepsItsShift) {
  Conversation c;
  c.a(Conversation::request(op::kRcSendOnly, 0x12, 10)).a(Conversation::request(op::kRcSendOnly, 0x12, 11));
  c.b(Conversation::ack(0x11, 10, 1))
      .b(Conversation::ack(0x11, 11, 2))
      .b(Conversation::request(op::kRcSendOnly, 0x11, 0));
  const TraceFlows flows = c.scan();
  model::PacketArena pool;
  Causality causality(flows);
  ReplayHosts hosts(flows, causality);
  hosts.set_origin(Instant{} - Conversation::time_of(0));
  for (size_t i = 0; i < c.size(); ++i) {
    FedPacket p;
    p.view = c.view(i, flows);
    p.packet = pool.copy(p.view.frame().bytes());
    p.captured = Conversation::time_of(i);
    p.index = i;
    const auto place = flows.sites().place(p.packet->bytes());
    p.site = place.site;
    p.host = place.host;
    p.dependency = causality.captured(p.view, p.captured);
    hosts.push(std::move(p), Instant{});
  }
  EXPECT_EQ(hosts.next(0), Instant{0});
  EXPECT_TRUE(hosts.next(1).is_never());
  const int64_t far = 5'000'000;
  for (size_t i = 0; i < 2; ++i) {
    const FedPacket p = hosts.pop(0, Instant{});
    causality.delivered(c.view(p.index, flows), p.entry + Duration{far});
    hosts.wake(p.view.stream, p.entry + Duration{far});
  }
  // Captured 2 us after its request, delivered 5 ms later: so are the host's other packets.
  for (const int64_t captured : {2000, 3000, 4000})
    EXPECT_EQ(hosts.pop(1, Instant{}).entry, Instant{captured + far});
  EXPECT_TRUE(hosts.empty());
  EXPECT_EQ(hosts.shift(flows.sites().place(Conversation::frame(false, Conversation::ack(1, 1, 1))).host),
            Duration{far});
}

TEST(ReplayHosts, ABlockedHostCanBeReleased) {
  Conversation c;
  c.a(Conversation::request(op::kRcSendOnly, 0x12, 10)).b(Conversation::ack(0x11, 10, 1));
  const TraceFlows flows = c.scan();
  model::PacketArena pool;
  Causality causality(flows);
  ReplayHosts hosts(flows, causality);
  causality.captured(c.view(0, flows), Conversation::time_of(0));
  FedPacket p;
  p.view = c.view(1, flows);
  p.packet = pool.copy(p.view.frame().bytes());
  p.captured = Conversation::time_of(1);
  p.site = 1;
  p.dependency = causality.captured(p.view, p.captured);
  hosts.push(std::move(p), Instant{});
  EXPECT_FALSE(hosts.any_ready());
  hosts.release_one(Conversation::time_of(9));
  EXPECT_EQ(hosts.released(), 1u);
  EXPECT_EQ(hosts.next(1), Conversation::time_of(9));
  hosts.pop(1, Instant{});
}

TEST(Causality, ReadOfAnyLengthHasItsPsns) {
  const auto psns = [](uint32_t length) {
    RoceSpec r = Conversation::request(op::kRcReadReq, 0x12, 10);
    r.dma_length = length;
    const std::vector<uint8_t> bytes = Conversation::frame(true, r);
    return read_psns(parse_frame(bytes).frame, 1024);
  };
  EXPECT_EQ(psns(0), 1u);
  EXPECT_EQ(psns(1025), 2u);
  EXPECT_EQ(psns(0xffffffff), 1u << 22);
}

}  // namespace
}  // namespace matchrdma
