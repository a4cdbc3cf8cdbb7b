#include "proxy/daemon/policy_table.h"

#include <gtest/gtest.h>

#include "config/test_config.h"

namespace matchrdma::daemon {
namespace {

TEST(PolicyTable, AnswersFromTheFirstClassThatFits) {
  const ConfigResult r =
      parse_config(test::small() +
                       "classes:\n"
                       "  - {name: urgent, match: {dscp: [26]}, completion: end-to-end, weight: 4}\n"
                       "  - {name: bulk, match: {dscp: [10]}, completion: early}\n",
                   "test.yaml");
  ASSERT_TRUE(r.ok()) << complaints(r);
  const PolicyTable all(r.config, 0, {}), silenced(r.config, 0, {"urgent"});
  const FlowKey key;
  EXPECT_EQ(all.weight(key, 26), 4u);
  EXPECT_EQ(all.weight(key, 10), 1u);
  EXPECT_EQ(all.weight(key, 0), 1u) << "no class";
  EXPECT_EQ(all.completion(key, 26, {}), Completion::kEndToEnd);
  EXPECT_EQ(all.completion(key, 10, {}), Completion::kEarly);
  EXPECT_EQ(all.completion(key, 0, {}), Completion::kTransparent);
  EXPECT_EQ(all.completion(key, 10, Completion::kEndToEnd), Completion::kEndToEnd) << "its registration's";
  EXPECT_EQ(silenced.completion(key, 26, Completion::kEarly), Completion::kTransparent);
}

}  // namespace
}  // namespace matchrdma::daemon
