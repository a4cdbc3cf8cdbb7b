#pragma once
// For tests: two hosts whose packets the test carries by hand.
#include <gtest/gtest.h>

#include <vector>

#include "model/host.h"
#include "model/packet_arena.h"
#include "model/test_net.h"

namespace matchrdma::model {

class RulesTest : public testing::Test {
 protected:
  static constexpr uint32_t kMtu = 256;

  RulesTest() {
    config.path = test_path();
    config.path_mtu = kMtu;
    config.start_a = Psn{100};
    config.start_b = Psn{5000};
    config.requester_a.timeout = Duration::millis(1);
  }
  void open() { pair = connect(a, b, config); }
  RcRequester& requester() { return pair.a->requester; }
  RcResponder& responder() { return pair.b->responder; }

  size_t post(WrType type, uint32_t length, uint64_t offset = 0) {
    WorkRequest w;
    w.type = type;
    w.length = length;
    w.va = config.memory_b.base + offset;
    w.rkey = config.memory_b.rkey;
    w.imm = 0xabcd;
    w.swap_add = 7;
    return requester().post(w, now);
  }
  /// Everything that the host wants to send now.
  std::vector<PacketRef> take(Host& host) {
    std::vector<PacketRef> out;
    while (PacketRef p = host.poll(now)) out.push_back(std::move(p));
    return out;
  }
  static Frame frame(const PacketRef& p) { return parse_frame(p->bytes()).frame; }
  void to_b(const PacketRef& p) { b.on_packet(p->bytes(), now); }
  void to_a(const PacketRef& p) { a.on_packet(p->bytes(), now); }
  void to_b(const std::vector<PacketRef>& all) {
    for (const PacketRef& p : all) to_b(p);
  }
  void to_a(const std::vector<PacketRef>& all) {
    for (const PacketRef& p : all) to_a(p);
  }
  /// An AETH packet made up by the test, as if b had sent it.
  void aeth_to_a(uint8_t syndrome, uint32_t psn, uint32_t msn) {
    RoceSpec s;
    s.opcode = op::kRcAck;
    s.dest_qp = config.qpn_a;
    s.psn = Psn{psn};
    s.syndrome = syndrome;
    s.msn = Msn{msn};
    to_a(build_roce(pair.b->id.path, s, arena));
  }
  /// Kinds of what a model complained about.
  static std::vector<ViolationKind> kinds(const ViolationLog& log) {
    std::vector<ViolationKind> out;
    for (const Violation& v : log.first()) out.push_back(v.kind);
    return out;
  }

  PacketArena arena;
  Host a{{}, arena}, b{{}, arena};
  PairConfig config;
  QpPair pair;
  Instant now{1000};
};

inline constexpr uint8_t kAckUnlimited = kAethAck | 31;

}  // namespace matchrdma::model
