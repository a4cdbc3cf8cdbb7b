// What a host does besides its queue pairs: CNPs and IP identification.
#include "model/host.h"

#include <gtest/gtest.h>

#include "dataplane/wire/icrc.h"
#include "dataplane/wire/source_port.h"
#include "model/test_net.h"

namespace matchrdma::model {
namespace {

PairConfig pair_config() {
  PairConfig c;
  c.path = test_path();
  return c;
}

WorkRequest request(WrType type, const MemoryConfig& remote) {
  WorkRequest w;
  w.type = type;
  w.length = 3000;
  w.va = remote.base;
  w.rkey = remote.rkey;
  return w;
}

/// Carries everything that is sent, marked CE where it has payload. Returns the CNPs.
uint64_t exchange_marked(Host& a, Host& b) {
  uint64_t cnps = 0;
  Instant now{};
  for (int i = 0; i < 100; ++i, now = now + Duration::micros(1))
    for (auto [from, to] : {std::pair{&a, &b}, std::pair{&b, &a}})
      while (PacketRef p = from->poll(now)) {
        const Frame f = parse_frame(p->bytes()).frame;
        if (f.opcode() == op::kCnp)
          ++cnps;
        else if (f.payload_length() > 0)
          rewrite_ecn(f, {p->data, p->size}, 3);
        to->on_packet(p->bytes(), now);
      }
  return cnps;
}

TEST(Host, AnswersMarkedRequestsAndResponsesWithCnps) {
  for (const WrType type : {WrType::kWrite, WrType::kRead}) {
    PacketArena arena;
    HostConfig config;
    config.cnp_interval = Duration::micros(1000);
    Host a(config, arena), b(config, arena);
    const PairConfig c = pair_config();
    const QpPair q = connect(a, b, c);
    q.a->requester.post(request(type, c.memory_b), {});
    EXPECT_EQ(exchange_marked(a, b), 1u) << "one in the interval";
    EXPECT_EQ((type == WrType::kRead ? a : b).stats().cnps_sent, 1u);
    EXPECT_TRUE(a.idle());
  }
}

TEST(Host, CountsItsPackets) {
  PacketArena arena;
  HostConfig config;
  config.number_packets = true;
  config.first_identification = 0xfffe;
  Host a(config, arena), b({}, arena);
  const PairConfig c = pair_config();
  const QpPair q = connect(a, b, c);
  q.a->requester.post(request(WrType::kWrite, c.memory_b), {});
  for (const uint16_t want : {uint16_t{0xfffe}, uint16_t{0xffff}, uint16_t{0}}) {
    const PacketRef p = a.poll({});
    ASSERT_TRUE(p);
    const Frame f = parse_frame(p->bytes()).frame;
    const uint8_t* ip = p->data + f.l3_offset();
    EXPECT_EQ(load_be16(ip + 4), want);
    EXPECT_TRUE(icrc_ok(f));
    uint32_t sum = 0;
    for (int i = 0; i < 20; i += 2) sum += load_be16(ip + i);
    EXPECT_EQ((sum & 0xffff) + (sum >> 16), 0xffffu) << "header checksum";
  }
}

// The example of a kernel: QPNs 0x11 and 0x12 make the flow label 0x132.
TEST(SourcePort, OfTheKernelsExample) {
  EXPECT_EQ(hashed_source_port(Qpn{0x11}, Qpn{0x12}), 0xc132);
  EXPECT_EQ(hashed_source_port(Qpn{0x12}, Qpn{0x11}), 0xc132);
  EXPECT_EQ(hashed_source_port(Qpn{56}, Qpn{57}), 52344) << "captured: i2_4qps";
}

}  // namespace
}  // namespace matchrdma::model
