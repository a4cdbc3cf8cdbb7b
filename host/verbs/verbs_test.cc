// What needs no device. What does runs between two Soft-RoCE guests: ./run softroce --host.
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <filesystem>

#include "host/verbs/device.h"
#include "host/verbs/events.h"
#include "host/verbs/queue_pair.h"

namespace matchrdma::host {
namespace {

bool some_device() {
  std::error_code error;
  return std::filesystem::exists("/sys/class/infiniband", error) &&
         !std::filesystem::is_empty("/sys/class/infiniband", error);
}

TEST(Verbs, WithoutADeviceItSaysWhatToDo) {
  if (some_device()) GTEST_SKIP() << "there is a device";
  const auto nic = open_verbs_nic({.least_memlock = 0});
  ASSERT_FALSE(nic.ok());
  EXPECT_EQ(nic.error(),
            "no RDMA device here: load the driver of the NIC, then `rdma link` shows it (for Soft-RoCE: rdma "
            "link add "
            "rxe0 type rxe netdev INTERFACE); in a container pass /dev/infiniband in");
}

TEST(Verbs, TooLittleLockableMemoryIsRefused) {
  EXPECT_EQ(memlock_complaint(64 << 20, 64 << 20), std::nullopt);
  EXPECT_EQ(memlock_complaint(UINT64_MAX, UINT64_MAX), std::nullopt);
  EXPECT_EQ(memlock_complaint(8 << 20, 64 << 20),
            "the NIC needs 64 MiB of locked memory, and this user may lock 8 MiB of memory: raise memlock in "
            "/etc/security/limits.d, LimitMEMLOCK= of the unit, or --ulimit memlock=-1 of the container");
  if (lockable_memory() != UINT64_MAX) {
    EXPECT_NE(open_verbs_nic({.least_memlock = UINT64_MAX}).error().find("this user may lock"),
              std::string::npos);
  }
}

TEST(Verbs, EventsCostWhatTheySay) {
  using What = EventEffect::What;
  EXPECT_EQ(effect_of(IBV_EVENT_QP_FATAL).what, What::kOneQueuePair);
  EXPECT_EQ(effect_of(IBV_EVENT_QP_ACCESS_ERR).what, What::kOneQueuePair);
  EXPECT_EQ(effect_of(IBV_EVENT_DEVICE_FATAL).what, What::kEveryQueuePair);
  EXPECT_EQ(effect_of(IBV_EVENT_CQ_ERR).what, What::kEveryQueuePair) << "it overflowed";
  EXPECT_EQ(effect_of(IBV_EVENT_PORT_ERR).what, What::kTold);
  EXPECT_NE(effect_of(IBV_EVENT_PORT_ERR).advice.find("cable"), std::string::npos);
  EXPECT_EQ(effect_of(IBV_EVENT_COMM_EST).what, What::kNothing);
  EXPECT_EQ(effect_of(IBV_EVENT_QP_LAST_WQE_REACHED).what, What::kNothing);
}

TEST(Verbs, OneDescriptorWakesForEach) {
  int one[2], two[2];
  ASSERT_TRUE(::pipe(one) == 0 && ::pipe(two) == 0);
  const WakeUp w({one[0], two[0]});
  ASSERT_GE(w.fd(), 0);
  const auto readable = [&w] {
    pollfd p{w.fd(), POLLIN, 0};
    return ::poll(&p, 1, 0) == 1;
  };
  for (const auto& pipe : {one, two}) {
    char byte = 1;
    EXPECT_FALSE(readable());
    ASSERT_EQ(::write(pipe[1], &byte, 1), 1);
    EXPECT_TRUE(readable());
    ASSERT_EQ(::read(pipe[0], &byte, 1), 1);
  }
  for (const int fd : {one[0], one[1], two[0], two[1]}) ::close(fd);
}

// A NIC that is gone flushes nothing: what it had is given back all the same, each once.
TEST(Verbs, WhatALostNicHadIsGivenBack) {
  PostedIds ids(4);
  EXPECT_FALSE(ids.complete_oldest());
  const uint32_t first = ids.post(70);
  ids.post(71);
  EXPECT_EQ(ids.complete_oldest(), 70u);
  EXPECT_FALSE(ids.complete(first)) << "a completion that comes after all";
  EXPECT_EQ(ids.complete_oldest(), 71u);
  EXPECT_FALSE(ids.complete_oldest());
  EXPECT_EQ(ids.room(), 4u);
}

ibv_gid_entry entry(uint32_t index, uint32_t type, std::initializer_list<uint8_t> head,
                    std::initializer_list<uint8_t> tail, uint32_t port = 1) {
  ibv_gid_entry e{};
  e.gid_index = index;
  e.port_num = port;
  e.gid_type = type;
  std::copy(head.begin(), head.end(), e.gid.raw);
  std::copy(tail.begin(), tail.end(), e.gid.raw + 16 - tail.size());
  return e;
}

TEST(Verbs, ChoosesTheGidOfAnIpv4Address) {
  const auto link_local = entry(0, IBV_GID_TYPE_ROCE_V2, {0xfe, 0x80}, {1});
  const auto v1 = entry(1, IBV_GID_TYPE_ROCE_V1, {}, {0xff, 0xff, 10, 9, 0, 1});
  const auto v6 = entry(2, IBV_GID_TYPE_ROCE_V2, {0xfd, 9}, {1});
  const auto v4 = entry(3, IBV_GID_TYPE_ROCE_V2, {}, {0xff, 0xff, 10, 9, 0, 1});
  const auto elsewhere = entry(0, IBV_GID_TYPE_ROCE_V2, {}, {0xff, 0xff, 10, 9, 0, 2}, 2);
  const auto chosen = [](std::vector<ibv_gid_entry> table) {
    const auto e = choose_gid(table, 1);
    return e ? static_cast<int>(e->gid_index) : -1;
  };
  EXPECT_EQ(chosen({elsewhere, link_local, v1, v6, v4}), 3);
  EXPECT_EQ(chosen({link_local, v1, v6}), 2);
  EXPECT_EQ(chosen({v1, link_local}), 0);
  EXPECT_EQ(chosen({v1, elsewhere}), -1);
}

TEST(Verbs, ATagComesBack) {
  for (const bool receive : {true, false}) {
    const RequestTag t = RequestTag::of(RequestTag{receive, 0x7ffffffe, 0xfffffff0}.packed());
    EXPECT_EQ(t.receive, receive);
    EXPECT_EQ(t.qp, 0x7ffffffeu);
    EXPECT_EQ(t.number, 0xfffffff0u);
  }
}

TEST(Verbs, RequestsNotSignalledAreDoneWithALaterOne) {
  PostedIds p(3);
  EXPECT_EQ(p.post(10), 0u);
  EXPECT_EQ(p.post(11), 1u);
  EXPECT_EQ(p.post(12), 2u);
  EXPECT_EQ(p.room(), 0u);
  EXPECT_EQ(p.complete(1), 11u);
  EXPECT_EQ(p.room(), 2u);
  EXPECT_EQ(p.complete(0), std::nullopt) << "done with the one behind it";
  EXPECT_EQ(p.complete(3), std::nullopt) << "not posted yet";
  p.take_back(1);
  EXPECT_EQ(p.room(), 3u);
  EXPECT_EQ(p.complete(2), std::nullopt);
  EXPECT_EQ(PostedIds(0).room(), 0u);
}

}  // namespace
}  // namespace matchrdma::host
