#include "model/cm_agent.h"

#include <gtest/gtest.h>

#include "model/test_net.h"

namespace matchrdma::model {
namespace {

CmEndpoint endpoint(uint32_t index, int side) {
  CmEndpoint e;
  e.path = test_path();
  if (side == 1) {
    std::swap(e.path.src, e.path.dst);
    std::swap(e.path.mac_src, e.path.mac_dst);
    e.expected_id = 0x1000 + index;
  }
  e.local_id = (side == 0 ? 0x1000 : 0x2000) + index;
  e.qpn = Qpn{(side == 0 ? 0x11u : 0x51u) + index};
  e.start = Psn{(side == 0 ? 0xaaaa00u : 0xbbbb00u) + index};
  e.path_mtu = 4096;
  return e;
}

/// Two hosts whose connection managers open `n` connections from A to B.
class CmNet {
 public:
  CmNet(const SpanConfig& span, uint64_t seed, uint32_t n) : net({}, span, span, seed), n_(n) {
    net.a.set_cm(&a);
    net.b.set_cm(&b);
    for (uint32_t i = 0; i < n; ++i) {
      b.listen(endpoint(i, 1));
      a.connect(endpoint(i, 0), net.now);
    }
  }
  void disconnect() {
    for (uint32_t i = 0; i < n_; ++i) a.disconnect(0x1000 + i, net.now);
  }
  bool all(CmAgent::State state) const {
    for (uint32_t i = 0; i < n_; ++i)
      if (a.find(0x1000 + i)->state != state || b.find(0x2000 + i)->state != state) return false;
    return true;
  }

  CmAgent a{CmConfig{}}, b{CmConfig{}};
  TestNet net;

 private:
  uint32_t n_;
};

TEST(CmAgent, BothLearnTheOthersNumbers) {
  SpanConfig span;
  span.delay = Duration::micros(10);
  CmNet cm(span, 1, 3);
  cm.net.run_for(Duration::millis(1));
  ASSERT_TRUE(cm.all(CmAgent::State::kEstablished));
  for (uint32_t i = 0; i < 3; ++i) {
    const CmAgent::Connection& a = *cm.a.find(0x1000 + i);
    const CmAgent::Connection& b = *cm.b.find(0x2000 + i);
    EXPECT_EQ(a.remote_qpn, b.own.qpn);
    EXPECT_EQ(b.remote_qpn, a.own.qpn);
    EXPECT_EQ(a.remote_start, b.own.start);
    EXPECT_EQ(b.remote_start, a.own.start);
    EXPECT_EQ(a.remote_id, b.own.local_id);
  }
  EXPECT_EQ(cm.net.a.stats().sent, 6u) << "REQ and RTU";
  EXPECT_EQ(cm.net.b.stats().sent, 3u) << "REP";
  cm.disconnect();
  cm.net.run_for(Duration::millis(1));
  EXPECT_TRUE(cm.all(CmAgent::State::kClosed));
  EXPECT_EQ(cm.net.a.stats().sent, 9u);
  EXPECT_EQ(cm.net.b.stats().sent, 6u);
  EXPECT_TRUE(cm.a.next_timer().is_never());
  EXPECT_TRUE(cm.b.next_timer().is_never());
}

TEST(CmAgent, LostMadsAreSentAgain) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SpanConfig span;
    span.delay = Duration::micros(10);
    span.loss = 0.4;
    CmNet cm(span, seed, 3);
    cm.net.run_for(Duration::seconds(60));
    ASSERT_TRUE(cm.all(CmAgent::State::kEstablished)) << seed;
    cm.disconnect();
    cm.net.run_for(Duration::seconds(60));
    ASSERT_TRUE(cm.all(CmAgent::State::kClosed)) << seed;
  }
}

TEST(CmAgent, ADuplicateReqIsAnsweredOnce) {
  SpanConfig span;
  span.delay = Duration::micros(10);
  span.duplicate = 1;
  CmNet cm(span, 1, 1);
  cm.net.run_for(Duration::millis(1));
  EXPECT_TRUE(cm.all(CmAgent::State::kEstablished));
}

TEST(CmMessage, IsReadAsItWasWritten) {
  CmMessage m;
  m.transaction = 0x123456789abcdef0;
  m.local_id = 0x11223344;
  m.remote_id = 0x55667788;
  m.qpn = Qpn{0x123456};
  m.start = Psn{0xfedcba};
  m.service_port = 4791;
  m.path_mtu = 4096;
  m.response_timeout = 17;
  m.ack_timeout = 14;
  std::vector<uint8_t> mad(kCmMadBytes), frame;
  RoceSpec spec;
  spec.opcode = op::kUdSendOnly;
  spec.dest_qp = Qpn{1};
  spec.payload = mad;
  for (const CmType type : {CmType::kReq, CmType::kRep, CmType::kRtu, CmType::kDreq, CmType::kDrep}) {
    m.type = type;
    write_cm(m, test_path(), mad);
    frame.resize(roce_frame_size(test_path(), spec));
    build_roce(test_path(), spec, frame);
    const auto read = read_cm(parse_frame(frame).frame);
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->type, type);
    EXPECT_EQ(read->transaction, m.transaction);
    EXPECT_EQ(read->local_id, m.local_id);
    EXPECT_EQ(read->remote_id, type == CmType::kReq ? 0 : m.remote_id);
    const bool opens = type == CmType::kReq || type == CmType::kRep;
    EXPECT_EQ(read->qpn, opens || type == CmType::kDreq ? m.qpn : Qpn{});
    EXPECT_EQ(read->start, opens ? m.start : Psn{});
    EXPECT_EQ(read->path_mtu, type == CmType::kReq ? 4096u : 0u);
    EXPECT_EQ(read->service_port, type == CmType::kReq ? 4791 : 0);
    EXPECT_EQ(read->response_timeout, type == CmType::kReq ? 17 : 0);
    EXPECT_EQ(read->ack_timeout, type == CmType::kReq ? 14 : 0);
  }
}

TEST(CmMessage, OtherDatagramsAreNone) {
  const std::vector<uint8_t> payload(kCmMadBytes);
  RoceSpec spec;
  spec.opcode = op::kUdSendOnly;
  spec.dest_qp = Qpn{1};
  spec.payload = payload;
  std::vector<uint8_t> frame(roce_frame_size(test_path(), spec));
  build_roce(test_path(), spec, frame);
  EXPECT_FALSE(read_cm(parse_frame(frame).frame).has_value());
}

}  // namespace
}  // namespace matchrdma::model
