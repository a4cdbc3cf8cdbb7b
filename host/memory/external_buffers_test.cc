#include "host/memory/external_buffers.h"

#include <gtest/gtest.h>

#include "host/memory/test_registrar.h"

namespace matchrdma::host {
namespace {

void* at(uintptr_t p) { return reinterpret_cast<void*>(p); }  // NOLINT: addresses of no memory of ours

struct Buffers {
  Buffers() { registrar.touch(false); }
  test::TestRegistrar registrar;
  Budget budget{1 << 20};
  ExternalBuffers buffers{registrar, budget};
};

TEST(ExternalBuffers, AreFoundFromTheirFirstToTheirLastByte) {
  Buffers b;
  const auto low = b.buffers.add(at(0x10000), 0x1000, HostAccess::kReadable);
  const auto high = b.buffers.add(at(0x11000), 0x1000, HostAccess::kReadable);  // directly behind it
  ASSERT_TRUE(low.ok() && high.ok());
  EXPECT_EQ(b.buffers.find(at(0xffff), 1), nullptr);
  EXPECT_EQ(b.buffers.find(at(0x10000), 1), *low);
  EXPECT_EQ(b.buffers.find(at(0x10fff), 1), *low);
  EXPECT_EQ(b.buffers.find(at(0x11000), 1), *high);
  EXPECT_EQ(b.buffers.find(at(0x12000), 1), nullptr);
  // Whole or not at all: what crosses into a neighbour has no key.
  EXPECT_EQ(b.buffers.find(at(0x10000), 0x1000), *low);
  EXPECT_EQ(b.buffers.find(at(0x10001), 0x1000), nullptr);
  EXPECT_EQ(b.buffers.find(at(0x10001), ~size_t{0}), nullptr);
}

TEST(ExternalBuffers, OverlapIsRefused) {
  Buffers b;
  ASSERT_TRUE(b.buffers.add(at(0x10000), 0x1000, HostAccess::kReadable).ok());
  for (const auto& [begin, length] : {std::pair<uintptr_t, size_t>{0x10000, 0x1000},
                                      {0x10fff, 1},
                                      {0x10400, 0x100},
                                      {0xffff, 2},
                                      {0xf000, 0x10000}}) {
    const auto r = b.buffers.add(at(begin), length, HostAccess::kNone);
    ASSERT_FALSE(r.ok()) << begin;
    EXPECT_NE(r.error().find("overlap a registered buffer of 4096 bytes at address 65536"), std::string::npos);
  }
  EXPECT_FALSE(b.buffers.add(Dmabuf{3, 0, 0x10800, 0x1000}).ok());
  EXPECT_FALSE(b.buffers.add(at(0x20000), 0, HostAccess::kNone).ok());
  EXPECT_FALSE(b.buffers.add(nullptr, 1, HostAccess::kNone).ok());
  EXPECT_FALSE(b.buffers.add(at(~uintptr_t{0} - 1), 16, HostAccess::kNone).ok());
  EXPECT_EQ(b.registrar.live(), 1u);
}

// H19: erasure coding and Hadamard look at this flag.
TEST(ExternalBuffers, OnlyHostMemoryIsReadableAndCountsAgainstTheBudget) {
  Buffers b;
  const auto host = b.buffers.add(at(0x100000), 1 << 19, HostAccess::kReadable);
  const auto peer = b.buffers.add(at(0x1000000), 1 << 24, HostAccess::kNone);
  const auto dmabuf = b.buffers.add(Dmabuf{3, 4096, 0x10000000, 1 << 24});
  ASSERT_TRUE(host.ok() && peer.ok() && dmabuf.ok());
  EXPECT_TRUE((*host)->host_readable);
  EXPECT_FALSE((*peer)->host_readable);
  EXPECT_FALSE((*dmabuf)->host_readable);
  EXPECT_EQ(b.budget.used(), size_t{1} << 19);
  const auto more = b.buffers.add(at(0x200000), (1 << 19) + 1, HostAccess::kReadable);
  ASSERT_FALSE(more.ok());
  EXPECT_NE(more.error().find("524288 of 1048576 bytes are registered"), std::string::npos);
  EXPECT_EQ(b.buffers.find(at(0x10000000 + (1 << 24) - 1), 1), *dmabuf);
}

TEST(ExternalBuffers, AreUnregisteredOnceByTheirFirstAddress) {
  Buffers b;
  ASSERT_TRUE(b.buffers.add(at(0x10000), 0x1000, HostAccess::kReadable).ok());
  EXPECT_FALSE(b.buffers.remove(at(0x10001)).ok());
  EXPECT_TRUE(b.buffers.remove(at(0x10000)).ok());
  EXPECT_FALSE(b.buffers.remove(at(0x10000)).ok());
  EXPECT_EQ(b.registrar.live(), 0u);
  EXPECT_EQ(b.budget.used(), 0u);
}

TEST(ExternalBuffers, ARefusedRegistrationLeavesNothingBehind) {
  Buffers b;
  b.registrar.refuse(true);
  const auto r = b.buffers.add(at(0x10000), 0x1000, HostAccess::kReadable);
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error(),
            "cannot register the external buffer of 4096 bytes at address 65536: the test device is full");
  EXPECT_FALSE(b.buffers.add(Dmabuf{3, 0, 0x10000, 0x1000}).ok());
  EXPECT_FALSE(b.buffers.add(Dmabuf{-1, 0, 0x10000, 0x1000}).ok());
  EXPECT_EQ(b.budget.used(), 0u);
  EXPECT_EQ(b.buffers.count(), 0u);
}

// A backend need not know dmabufs.
TEST(ExternalBuffers, ADeviceWithoutDmabufsSaysSo) {
  struct Plain final : Registrar {
    Result<Region> add(void*, size_t) override { return Region{}; }
    void remove(const Region&) override {}
  } plain;
  Budget budget(1 << 20);
  ExternalBuffers buffers(plain, budget);
  const auto r = buffers.add(Dmabuf{3, 0, 0x10000, 0x1000});
  ASSERT_FALSE(r.ok());
  EXPECT_NE(r.error().find("does not register dmabufs"), std::string::npos);
}

}  // namespace
}  // namespace matchrdma::host
