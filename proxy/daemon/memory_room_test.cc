#include "proxy/daemon/memory_room.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "dataplane/base/test_folder.h"

namespace matchrdma::daemon {
namespace {

struct MemoryRoom : ::testing::Test {
  void write(const std::string& file, const std::string& text) {
    const std::filesystem::path path = root() + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::optional<uint64_t> room() { return memory_room(root()); }
  std::string root() const { return folder.path().string(); }
  test::TestFolder folder;
};

TEST_F(MemoryRoom, NobodyTells) { EXPECT_FALSE(room().has_value()); }

TEST_F(MemoryRoom, WhatTheKernelCallsAvailable) {
  write("/proc/meminfo", "MemTotal:       24000000 kB\nMemFree: 5 kB\nMemAvailable:   1000 kB\n");
  EXPECT_EQ(room(), 1000u * 1024);
}

TEST_F(MemoryRoom, NoMoreThanAnyCgroupAboveLeaves) {
  write("/proc/meminfo", "MemAvailable:   1000 kB\n");
  write("/proc/self/cgroup", "1:name=x:/old\n0::/system.slice/matchrdmad.service\n");
  write("/sys/fs/cgroup/system.slice/matchrdmad.service/memory.max", "max\n");
  write("/sys/fs/cgroup/system.slice/matchrdmad.service/memory.current", "4096\n");
  EXPECT_EQ(room(), 1000u * 1024);
  write("/sys/fs/cgroup/system.slice/memory.max", "500000\n");
  write("/sys/fs/cgroup/system.slice/memory.current", "100000\n");
  EXPECT_EQ(room(), 400000u);
  write("/sys/fs/cgroup/memory.max", "100000\n");  // of a container: its root is ours
  write("/sys/fs/cgroup/memory.current", "200000\n");
  EXPECT_EQ(room(), 0u);
}

}  // namespace
}  // namespace matchrdma::daemon
