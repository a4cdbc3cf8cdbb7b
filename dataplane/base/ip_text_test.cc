#include "dataplane/base/ip_text.h"

#include <gtest/gtest.h>

namespace matchrdma {
namespace {

TEST(IpText, BothWays) {
  for (const std::string text : {"10.0.0.1", "255.255.255.255", "0.0.0.0", "fd00::1", "2001:db8::", "::1"}) {
    const auto a = ip_from_text(text);
    ASSERT_TRUE(a.has_value()) << text;
    EXPECT_EQ(ip_text(*a), text);
    EXPECT_EQ(a->is_v4(), text.find('.') != std::string::npos);
  }
}

TEST(IpText, OnlyOneWholeAddress) {
  for (const std::string text :
       {"", "10.0.0", "10.0.0.1/24", " 10.0.0.1", "10.0.0.256", "fd00::1%eth0", "host"})
    EXPECT_FALSE(ip_from_text(text).has_value()) << text;
  EXPECT_FALSE(ip_from_text(std::string("10.0.0.1\0x", 10)).has_value());
}

}  // namespace
}  // namespace matchrdma
