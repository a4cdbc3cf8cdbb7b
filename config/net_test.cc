#include "config/net.h"

#include <gtest/gtest.h>

namespace matchrdma {
namespace {

TEST(Net, Prefixes) {
  for (const char* text : {"10.1.0.0/16", "0.0.0.0/0", "10.1.2.3/32", "2001:db8::/32", "::/0", "fd00::1/128"})
    EXPECT_EQ(to_text(*parse_prefix(text)), text);
  EXPECT_EQ(to_text(*parse_prefix("10.1.2.3")), "10.1.2.3/32");
  EXPECT_EQ(to_text(*parse_prefix("10.1.128.0/17")), "10.1.128.0/17");
  for (const char* bad :
       {"", "10.1.0.0/33", "10.1.0.0/", "10.1.0.0/-1", "10.1/16", "fd00::/129", "x/8", "10.0.0.0/8 "})
    EXPECT_FALSE(parse_prefix(bad).ok()) << bad;
  EXPECT_NE(parse_prefix("10.1.129.0/17").error().find("10.1.128.0/17"), std::string::npos);
  EXPECT_NE(parse_prefix("2001:db8::1/64").error().find("2001:db8::/64"), std::string::npos);
}

TEST(Net, ContainsStaysInTheFamily) {
  EXPECT_TRUE(parse_prefix("10.0.0.0/9")->contains(*parse_address("10.127.255.255")));
  EXPECT_FALSE(parse_prefix("10.0.0.0/9")->contains(*parse_address("10.128.0.0")));
  EXPECT_TRUE(parse_prefix("0.0.0.0/0")->contains(*parse_address("1.2.3.4")));
  EXPECT_FALSE(parse_prefix("0.0.0.0/0")->contains(*parse_address("::1")));
  EXPECT_FALSE(parse_prefix("::/0")->contains(*parse_address("1.2.3.4")));
  EXPECT_TRUE(parse_prefix("10.0.0.0/8")->covers(*parse_prefix("10.1.0.0/16")));
  EXPECT_FALSE(parse_prefix("10.1.0.0/16")->covers(*parse_prefix("10.0.0.0/8")));
}

TEST(Net, LastOfAPrefix) {
  EXPECT_EQ(to_text(parse_prefix("192.0.2.0/30")->last()), "192.0.2.3");
  EXPECT_EQ(to_text(parse_prefix("10.128.0.0/9")->last()), "10.255.255.255");
  EXPECT_EQ(to_text(parse_prefix("10.0.0.1")->last()), "10.0.0.1");
  EXPECT_EQ(to_text(parse_prefix("2001:db8::/64")->last()), "2001:db8::ffff:ffff:ffff:ffff");
}

TEST(Net, WhatNoHostHas) {
  for (const char* host : {"10.0.0.1", "223.255.255.255", "169.254.0.1", "2001:db8::1", "fe80::1", "::2"})
    EXPECT_EQ(why_no_host(*parse_address(host)), "") << host;
  EXPECT_EQ(why_no_host(*parse_address("0.0.0.0")), "unspecified");
  EXPECT_EQ(why_no_host(*parse_address("::")), "unspecified");
  EXPECT_EQ(why_no_host(*parse_address("127.9.9.9")), "loopback");
  EXPECT_EQ(why_no_host(*parse_address("::1")), "loopback");
  EXPECT_EQ(why_no_host(*parse_address("239.255.0.1")), "multicast");
  EXPECT_EQ(why_no_host(*parse_address("ff02::1")), "multicast");
  EXPECT_EQ(why_no_host(*parse_address("255.255.255.255")), "broadcast");
  EXPECT_EQ(why_no_host(*parse_address("240.0.0.1")), "reserved");
  EXPECT_EQ(why_no_host(*parse_address("0.0.0.1")), "reserved");
}

TEST(Net, Others) {
  EXPECT_EQ(to_text(*parse_endpoint("[::1]:9464")), "[::1]:9464");
  EXPECT_EQ(to_text(*parse_endpoint("127.0.0.1:1")), "127.0.0.1:1");
  for (const char* bad :
       {"", ":1", "::1:9464", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:65536", "[127.0.0.1]:1", "[]:1"})
    EXPECT_FALSE(parse_endpoint(bad).ok()) << bad;
  EXPECT_EQ(to_text(*parse_mac("02:00:00:00:0a:FF")), "02:00:00:00:0a:ff");
  for (const char* bad : {"", "02:00:00:00:00", "02-00-00-00-00-0b", "0x:00:00:00:00:0b", "02:00:00:00:00:0b "})
    EXPECT_FALSE(parse_mac(bad).ok()) << bad;
  EXPECT_EQ(to_text(*parse_interface_address("192.0.2.1/30")), "192.0.2.1/30");
  EXPECT_EQ(to_text(parse_interface_address("192.0.2.1/30")->link()), "192.0.2.0/30");
  EXPECT_FALSE(parse_address(std::string("1.2.3.4\0x", 9)).ok());
}

}  // namespace
}  // namespace matchrdma
