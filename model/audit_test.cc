// The auditor must notice what a faulty network does; a silent oracle proves nothing.
#include "model/audit.h"

#include <gtest/gtest.h>

#include "model/rules_fixture.h"

namespace matchrdma::model {
namespace {

using Audit = RulesTest;

TEST_F(Audit, EarlyAcknowledgementIsSeenUnlessAllowed) {
  open();
  post(WrType::kWrite, 10);
  const auto p = take(a);
  aeth_to_a(kAckUnlimited, 100, 1);  // a proxy answers before the receiver has it
  EXPECT_EQ(audit(pair, {.complete = false}, now), "a->b: completed but never executed, PSN 100\n");
  now = now + Duration::micros(5);
  to_b(p);
  EXPECT_EQ(audit(pair, {}, now), "a->b: completed before it was executed, PSN 100\n");
  EXPECT_EQ(audit(pair, {.completion_after_execution = false}, now), "");
}

TEST_F(Audit, AcknowledgedAndLostIsSeen) {
  open();
  post(WrType::kSendImm, 10);
  take(a);
  aeth_to_a(kAckUnlimited, 100, 1);
  const std::string said = audit(pair, {.completion_after_execution = false}, now);
  EXPECT_NE(said.find("was never executed"), std::string::npos) << said;
  EXPECT_NE(said.find("message was never received"), std::string::npos) << said;
}

TEST_F(Audit, LostWriteShowsInMemory) {
  open();
  post(WrType::kWrite, 64);
  take(a);
  const std::string said = audit(pair, {}, now);
  EXPECT_NE(said.find("did not complete"), std::string::npos) << said;
  EXPECT_NE(said.find("memory at rest"), std::string::npos) << said;
}

TEST_F(Audit, FailedConnectionKeepsACleanBeginning) {
  open();
  post(WrType::kSend, 10);
  post(WrType::kSend, 10);
  responder().inject_nak(kNakRemoteOperation, 101);
  to_b(take(a));
  to_a(take(b));
  EXPECT_TRUE(pair.a->failed());
  EXPECT_EQ(audit(pair, {.complete = false}, now), "");
}

TEST_F(Audit, RemovedQueuePairIsForeign) {
  open();
  post(WrType::kSend, 10);
  const auto p = take(a);
  b.remove_qp(config.qpn_b);
  to_b(p);
  EXPECT_EQ(b.stats().foreign, 1u);
}

}  // namespace
}  // namespace matchrdma::model
