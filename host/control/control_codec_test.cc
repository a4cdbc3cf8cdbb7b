#include "host/control/control_codec.h"

#include <gtest/gtest.h>

#include "host/control/test_hello.h"

namespace matchrdma::host {
namespace {

using Buffer = std::vector<uint8_t>;

Buffer frame_of(const ControlMessage& m) {
  Buffer b;
  EXPECT_TRUE(encode(m, b));
  return b;
}
std::optional<ControlMessage> back(Bytes frame) { return decode(frame[0], frame.subspan(kControlHeaderBytes)); }

TEST(ControlCodec, EveryTypeComesBackAndNothingShorterOrLonger) {
  const auto all = test::one_of_each();
  ASSERT_EQ(all.size(), std::variant_size_v<ControlMessage>);
  for (size_t i = 0; i < all.size(); ++i) {
    Buffer b = frame_of(all[i]);
    EXPECT_EQ(b[0], i + 1);
    const auto head = frame_at(b);
    ASSERT_TRUE(head);
    EXPECT_EQ(head->body + kControlHeaderBytes, b.size());
    EXPECT_EQ(back(b), all[i]);
    for (size_t n = kControlHeaderBytes; n < b.size(); ++n)
      EXPECT_FALSE(back(Bytes(b).first(n))) << i << ' ' << n;
    b.push_back(0);
    EXPECT_FALSE(back(b)) << i;
  }
  EXPECT_FALSE(frame_at(Buffer(3)));
  EXPECT_FALSE(known(0));
  EXPECT_FALSE(known(static_cast<uint8_t>(all.size() + 1)));
}

TEST(ControlCodec, WhatBreaksALayoutIsNotSaid) {
  Buffer b{1, 2};
  const auto refused = [&b](const ControlMessage& m) { return !encode(m, b) && b == Buffer{1, 2}; };
  EXPECT_TRUE(refused(Bye{false, std::string(kMaxControlText + 1, 'x')}));
  EXPECT_TRUE(refused(Bye{false, "two\nlines"}));
  EXPECT_TRUE(refused(PathAddresses{std::vector<PathAddress>(kMaxPathAddresses + 1)}));
  EXPECT_TRUE(refused(PathAddresses{{{0, 0, Transport::kRc, {1u << 24, 0, {}}}}}));
  EXPECT_TRUE(refused(Fenced{0, 0, 0, Buffer(kMaxFenceDetail + 1)}));
  EXPECT_TRUE(refused(RelayRegister{0, false, 1024, {{}, 1, 1u << 24}, {}}));
  EXPECT_TRUE(refused(RelayRegister{0, false, 1000, {}, {}}));
  const auto hello = [&](auto change) {
    ControlHello h = test::hello(1);
    change(h);
    return refused(h);
  };
  EXPECT_TRUE(hello([](ControlHello& h) { h.path_mtu = 1500; }));
  EXPECT_TRUE(hello([](ControlHello& h) { h.page_size = 0; }));
  EXPECT_TRUE(hello([](ControlHello& h) { h.layout.slot_bits = 9; }));
  EXPECT_TRUE(hello([](ControlHello& h) { h.layout = {9, 20, 3}; })) << "H3: four generation bits at the least";
  EXPECT_FALSE(hello([](ControlHello&) {}));
}

TEST(ControlCodec, WhatBreaksALayoutIsNotHeard) {
  const auto with = [](const ControlMessage& m, size_t at, uint8_t value) {
    Buffer b = frame_of(m);
    b.at(at) = value;
    return back(b);
  };
  EXPECT_FALSE(with(Bye{false, "x"}, 4, 2)) << "a flag is 0 or 1";
  EXPECT_FALSE(with(Bye{false, "x"}, 7, '\n'));
  EXPECT_FALSE(with(test::hello(1), 4, 'M')) << "the magic word";
  EXPECT_FALSE(with(PathAddresses{std::vector<PathAddress>(1)}, 4, 0xff)) << "a list longer than its bytes";
  EXPECT_FALSE(with(PathAddresses{std::vector<PathAddress>(1)}, 4 + 2 + 8, 3)) << "a transport that is none";
  EXPECT_FALSE(with(PathAddresses{std::vector<PathAddress>(1)}, 4 + 2 + 9, 1)) << "a QPN of 25 bits";
}

TEST(ControlCodec, AHelloOfAnotherVersionIsReadAsFarAsItIsTheSame) {
  Buffer b = frame_of(test::hello(1));
  b[9] = 2;
  b.resize(4 + 6 + 3);
  const auto m = back(b);
  ASSERT_TRUE(m);
  EXPECT_EQ(std::get<ControlHello>(*m).version, 2);
}

}  // namespace
}  // namespace matchrdma::host
