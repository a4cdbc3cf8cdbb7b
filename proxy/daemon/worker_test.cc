// Two workers with ports in memory, their sessions and what they make of a conversation: the daemon without
// DPDK, without a network and without time of its own.
#include "proxy/daemon/worker.h"

#include <gtest/gtest.h>

#include <deque>

#include "config/load.h"
#include "dataplane/wire/frame_builder.h"
#include "model/packet_arena.h"
#include "proxy/daemon/peer_link.h"
#include "proxy/daemon/report.h"

namespace matchrdma::daemon {
namespace {

/// Ports of one worker; what is sent to the span arrives at `far` at once.
struct MemoryIo {
  Instant now() const { return *clock; }
  uint32_t rx(size_t, Side side, std::span<PacketRef> out) {
    return take(side == Side::kLan ? lan_in : wan_in, out);
  }
  uint32_t handed(std::span<PacketRef> out) { return take(handed_in, out); }
  uint64_t dispatch_drops() const { return 0; }
  uint64_t tx(size_t, Side side, bool, std::span<PacketRef> packets) {
    for (PacketRef& p : packets) {
      if (side == Side::kLan) {
        lan_out.push_back(std::move(p));
      } else if (far != nullptr) {
        far->wan_in.push_back(std::move(p));
      }
    }
    return packets.size();
  }
  void rest(Instant) {}
  void worked() {}

  static uint32_t take(std::deque<PacketRef>& from, std::span<PacketRef> out) {
    uint32_t n = 0;
    for (; n < out.size() && !from.empty(); ++n, from.pop_front()) out[n] = std::move(from.front());
    return n;
  }

  const Instant* clock = nullptr;
  MemoryIo* far = nullptr;
  std::deque<PacketRef> lan_in, wan_in, lan_out, handed_in;
};

constexpr const char* kConfig = R"(
name: NAME
workers: {cores: 1}
memory: {no-huge: 64MiB}
spans:
  - name: span
    lan: {port: "net_ring0", mtu: 1500}
    wan: {port: "net_ring1", mtu: 1500, address: 192.0.2.OWN/24}
    peer: {address: 192.0.2.PEER, keys: [{id: 1, file: none.key}]}
classes:
  - {name: all, completion: early}
limits: {max_flows: 64, max_owning_flows: 16, custody_soft: 4MiB, custody_hard: 8MiB, reorder_memory: 4MiB,
         custody_packets: 4096, held_packets: 4096, confirmed_entries: 4096}
)";

std::shared_ptr<const Config> config_of(const std::string& own, const std::string& peer) {
  std::string text = kConfig;
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>{"NAME", "proxy-" + own}, {"OWN", own}, {"PEER", peer}}) {
    text.replace(text.find(from), from.size(), to);
  }
  const ConfigResult r = parse_config(text, "test.yaml");
  EXPECT_TRUE(r.ok()) << complaints(r);
  return r.config;
}

/// One proxy: a worker, its one span end, and the control thread's part of the session.
struct Site {
  Site(const std::string& own, const std::string& peer, uint32_t instance, const Instant& clock,
       model::PacketArena& arena)
      : config(config_of(own, peer)), worker(0, io, 32) {
    io.clock = &clock;
    SpanEndConfig e;
    e.shard.limits = config->limits;
    e.shard.tuning = config->tuning_of(0);
    e.shard.instance = instance;
    e.neighbour.self = {
        Mac{2, 0, 0, 0, 0, static_cast<uint8_t>(instance)}, config->spans[0].wan.address.address, {}};
    e.neighbour.prefix_bits = 24;
    e.neighbour.peer = config->spans[0].peer.address;
    SpanEndHooks h;
    h.hello = [this, &clock](Bytes b) { link->hello(b, clock); };
    h.other_worker = [this](uint16_t, Bytes) { ++strays; };
    h.journal = [this](const JournalRecord& r) { journal.push_back(r); };
    worker.add(std::make_unique<SpanEnd>(e, arena, h));
    worker.end(0).set_policy(std::make_shared<const PolicyTable>(config, 0, std::set<std::string>{}), clock);
    PeerLink::Hooks l;
    l.send = [this](Bytes b) { worker.end(0).send_hello(b); };
    l.keys = [this, &clock](const SessionSnapshot& s, bool started) {
      worker.end(0).set_session(s, started, clock);
    };
    l.tell = [this](const std::string& s) { said.push_back(s); };
    link = std::make_unique<PeerLink>("span", Offer{}, clock, l);
    PeerConfig keys = config->spans[0].peer;
    keys.keys[0].secret.b.fill(7);
    EXPECT_TRUE(link->set_keys(keys, clock).ok());
  }
  std::vector<Frame> to_host() const {
    std::vector<Frame> out;
    for (const PacketRef& p : io.lan_out) {
      const ParseResult r = parse_frame(p->bytes());
      if (r.kind == ParseKind::kRoce) out.push_back(r.frame);
    }
    return out;
  }

  std::shared_ptr<const Config> config;
  MemoryIo io;
  Worker<MemoryIo> worker;
  std::unique_ptr<PeerLink> link;
  std::vector<std::string> said;
  std::vector<JournalRecord> journal;
  int strays = 0;
};

IpAddress host(uint8_t last) {
  const uint8_t b[4] = {10, 0, 0, last};
  return IpAddress::v4(b);
}

struct DaemonPair : testing::Test {
  DaemonPair() {
    a.io.far = &b.io;
    b.io.far = &a.io;
  }
  void run(Duration d) {
    for (const Instant end = clock + d; clock < end; clock = clock + Duration::micros(100)) {
      for (Site* s : {&a, &b}) {
        s->link->poll(clock);
        s->worker.round();
      }
    }
  }
  void request(uint32_t psn) {
    L2L3 l;
    l.mac_dst = {2, 0, 0, 0, 9, 2};
    l.mac_src = {2, 0, 0, 0, 9, 1};
    l.src = host(1);
    l.dst = host(2);
    l.udp_source_port = 0xc001;
    RoceSpec r;
    r.opcode = op::kRcWriteOnly;
    r.dest_qp = Qpn{0x22};
    r.psn = Psn{psn};
    r.ack_req = true;
    static const std::array<uint8_t, 64> kPayload{};
    r.payload = kPayload;
    r.dma_length = 64;
    a.io.lan_in.push_back(build_roce(l, r, arena));
  }
  Registration pair() const {
    Registration r;
    r.a = {host(1), Qpn{0x11}, true, Psn{100}, 0};
    r.b = {host(2), Qpn{0x22}, true, Psn{500}, 0};
    r.path_mtu = 1024;
    r.completion = Completion::kEarly;
    return r;
  }

  model::PacketArena arena;
  Instant clock{1'000'000};
  Site a{"1", "2", 1, clock, arena}, b{"2", "1", 2, clock, arena};
};

TEST_F(DaemonPair, FindsItsPeerAndAgreesOnKeys) {
  EXPECT_FALSE(a.link->up());
  run(Duration::millis(200));
  EXPECT_TRUE(a.link->up());
  EXPECT_TRUE(b.link->up());
  EXPECT_EQ(a.link->session().session().seal->tag(), b.link->session().session().seal->tag());
  EXPECT_TRUE(a.to_host().empty() && b.to_host().empty());
}

TEST_F(DaemonPair, NothingOfTheSubchannelLeaksToTheHosts) {
  run(Duration::seconds(3));
  EXPECT_TRUE(a.io.lan_out.empty());
  EXPECT_TRUE(b.io.lan_out.empty());
  EXPECT_EQ(a.strays + b.strays, 0);
}

TEST_F(DaemonPair, AcknowledgesFromCustodyWhatItHasWrittenToTheJournal) {
  run(Duration::millis(200));
  ASSERT_EQ(a.worker.end(0).register_qp(pair(), clock), Registered::kYes);
  run(Duration::millis(50));
  request(100);
  run(Duration::millis(1));
  const std::vector<Frame> acks = a.to_host();
  ASSERT_EQ(acks.size(), 1u);
  EXPECT_EQ(acks[0].opcode(), op::kRcAck);
  EXPECT_EQ(acks[0].psn().v, 100u);
  EXPECT_EQ(acks[0].dest_qp().v, 0x11u);
  ASSERT_FALSE(a.journal.empty());
  EXPECT_TRUE(a.journal.back().promised);
  ASSERT_EQ(b.to_host().size(), 1u);
  EXPECT_EQ(b.to_host()[0].psn().v, 100u);
}

// Packets and bytes of one moment; the age is that of the moment in which its flow was looked at.
TEST_F(DaemonPair, CustodyIsToldAsItIs) {
  run(Duration::millis(200));
  ASSERT_EQ(a.worker.end(0).register_qp(pair(), clock), Registered::kYes);
  run(Duration::millis(50));
  a.io.far = nullptr;  // the span is cut
  request(100);
  request(101);
  run(Duration::millis(1));
  const WorkerReport r = report(a.worker, {"span"}, clock);
  EXPECT_EQ(r.custody.owned_packets, 2u);
  EXPECT_EQ(r.custody.owned_packets, a.worker.end(0).shard().owned_packets());
  EXPECT_GT(r.custody.bytes, 2 * 64u);
  run(Duration::millis(6));
  FlowWalk walk(0);
  while (!walk.step(a.worker, {"span"}, clock)) {
  }
  EXPECT_GE(walk.oldest, Duration::millis(6));
  EXPECT_LE(walk.oldest, Duration::millis(7));
  a.io.far = &b.io;
  run(Duration::millis(200));
  EXPECT_EQ(report(a.worker, {"span"}, clock).custody.owned_packets, 2u) << "nobody has acknowledged them";
}

// Behind what is forwarded to the same host: an ACK in a faster queue would overtake READ responses (C3).
TEST_F(DaemonPair, AcknowledgementsStayInTheOrderOfWhatTheyAcknowledge) {
  run(Duration::millis(200));
  ASSERT_EQ(a.worker.end(0).register_qp(pair(), clock), Registered::kYes);
  run(Duration::millis(50));
  request(100);
  SpanEnd& end = a.worker.end(0);
  end.from_lan(std::move(a.io.lan_in.front()));
  a.io.lan_in.pop_front();
  end.run(clock);
  EXPECT_TRUE(end.lan().control.empty());
  EXPECT_EQ(end.lan().bulk.size(), 1u);
}

TEST_F(DaemonPair, UnknownTrafficPassesBothWays) {
  run(Duration::millis(200));
  const std::array<uint8_t, 60> arp{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 9, 1, 0x08, 0x06};
  a.io.lan_in.push_back(arena.copy(arp));
  b.io.lan_in.push_back(arena.copy(arp));
  run(Duration::millis(1));
  ASSERT_EQ(b.io.lan_out.size(), 1u);
  ASSERT_EQ(a.io.lan_out.size(), 1u);
  EXPECT_EQ(std::memcmp(b.io.lan_out[0]->data, arp.data(), arp.size()), 0);
}

// Where the device cannot spread flows, another worker has received the packet; its tag tells at which port.
TEST_F(DaemonPair, WhatAnotherWorkerReceivedEntersAtItsPort) {
  run(Duration::millis(200));
  const std::array<uint8_t, 60> arp{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 9, 1, 0x08, 0x06};
  for (const uint64_t tag : {0, 1}) {  // of span 0: LAN, WAN
    a.io.handed_in.push_back(arena.copy(arp));
    a.io.handed_in.back()->tag = tag;
  }
  run(Duration::millis(1));
  EXPECT_EQ(b.io.lan_out.size(), 1u);
  EXPECT_EQ(a.io.lan_out.size(), 1u);
}

TEST_F(DaemonPair, AnotherKeyIsNoSession) {
  PeerConfig other = b.config->spans[0].peer;
  other.keys[0].id = 2;  // an id never changes its secret
  other.keys[0].secret.b.fill(9);
  ASSERT_TRUE(b.link->set_keys(other, clock).ok());
  run(Duration::seconds(1));
  EXPECT_FALSE(a.link->up());
  EXPECT_FALSE(b.link->up());
  EXPECT_GT(a.link->session().counters().unknown_key, 0u);
}

TEST_F(DaemonPair, KeysChangeWithoutAGap) {
  run(Duration::millis(200));
  const uint64_t before = a.worker.end(0).channel().counters().no_session;
  const auto ring = [](const Site& s, std::vector<std::pair<uint32_t, uint8_t>> ids) {
    PeerConfig p = s.config->spans[0].peer;
    p.keys.clear();
    for (const auto& [id, fill] : ids) {
      PeerKey k;
      k.id = id;
      k.secret.b.fill(fill);
      p.keys.push_back(k);
    }
    return p;
  };
  ASSERT_TRUE(a.link->set_keys(ring(a, {{1, 7}, {2, 8}}), clock).ok());
  run(Duration::millis(50));
  ASSERT_TRUE(b.link->set_keys(ring(b, {{1, 7}, {2, 8}}), clock).ok());
  run(Duration::seconds(3));
  EXPECT_EQ(a.link->session().peer_seals_under().v, 2u);
  ASSERT_TRUE(a.link->set_keys(ring(a, {{2, 8}}), clock).ok());
  ASSERT_TRUE(b.link->set_keys(ring(b, {{2, 8}}), clock).ok());
  run(Duration::seconds(2));
  EXPECT_TRUE(a.link->up());
  EXPECT_EQ(a.link->session().session().seal->key_id().v, 2u);
  EXPECT_EQ(a.worker.end(0).channel().counters().no_session, before);
}

std::vector<std::string> comments(CaptureTap& tap, Side side) {
  std::vector<std::string> out;
  uint64_t missed = 0;
  for (const TappedPacket& p : tap.take(missed)) {
    if (p.side == side) out.push_back(p.comment);
  }
  EXPECT_EQ(missed, 0u);
  return out;
}

TEST_F(DaemonPair, CaptureOfAFlowHoldsBothWaysAndBothPorts) {
  run(Duration::millis(200));
  ASSERT_EQ(a.worker.end(0).register_qp(pair(), clock), Registered::kYes);
  run(Duration::millis(50));
  service::CaptureRequest what;
  what.flows = {pair().flow(true)};
  const auto tap = std::make_shared<CaptureTap>(what);
  a.worker.end(0).set_capture(SpanCapture(tap, 0));
  request(100);
  a.worker.round();
  uint64_t missed = 0;
  std::vector<std::string> seen;
  for (const TappedPacket& p : tap->take(missed))
    seen.push_back((p.side == Side::kLan ? "lan " : "wan ") + p.comment);
  EXPECT_EQ(seen, (std::vector<std::string>{"lan in", "wan out: first", "lan out: pseudo_ack"}));
  // Another flow between the same hosts, and the end of the capture.
  what.flows[0].dst_qpn = Qpn{0x99};
  const auto other = std::make_shared<CaptureTap>(what);
  a.worker.end(0).set_capture(SpanCapture(other, 0));
  request(101);
  run(Duration::millis(1));
  EXPECT_TRUE(comments(*other, Side::kLan).empty());
  a.worker.end(0).set_capture({});
  request(102);
  run(Duration::millis(1));
  EXPECT_TRUE(comments(*tap, Side::kLan).empty());
}

TEST_F(DaemonPair, CaptureOfAReasonHoldsThePacketsThatMetIt) {
  run(Duration::millis(200));
  ASSERT_EQ(a.worker.end(0).register_qp(pair(), clock), Registered::kYes);
  run(Duration::millis(50));
  service::CaptureRequest what;
  what.reasons = {Reason::kIcrcLan, Reason::kNotIp};
  const auto tap = std::make_shared<CaptureTap>(what);
  a.worker.end(0).set_capture(SpanCapture(tap, 0));
  request(100);
  request(101);
  request(102);
  a.io.lan_in[1]->data[a.io.lan_in[1]->size - 1] ^= 1;
  const std::array<uint8_t, 60> arp{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 9, 1, 0x08, 0x06};
  a.io.lan_in.push_back(arena.copy(arp));
  a.worker.round();
  EXPECT_EQ(comments(*tap, Side::kLan), (std::vector<std::string>{"in: icrc_lan", "in: not_ip"}));
}

TEST(CaptureTap, WhatFindsNoRoomIsCounted) {
  CaptureTap tap({});
  for (size_t i = 0; i < CaptureTap::kRoomPackets + 5; ++i)
    tap.offer({0, Side::kLan, Instant{}, {1, 2, 3}, "in"});
  uint64_t missed = 0;
  EXPECT_EQ(tap.take(missed).size(), CaptureTap::kRoomPackets);
  EXPECT_EQ(missed, 5u);
  tap.offer({0, Side::kLan, Instant{}, {1}, "in"});
  EXPECT_EQ(tap.take(missed).size(), 1u);
  tap.offer({0, Side::kLan, Instant{}, std::vector<uint8_t>(CaptureTap::kRoomBytes + 1), "in"});
  EXPECT_EQ(tap.take(missed).size(), 0u);
  EXPECT_EQ(missed, 6u);
}

}  // namespace
}  // namespace matchrdma::daemon
