#include "dataplane/io/eal.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "dataplane/io/clock.h"
#include "dataplane/io/idle.h"
#include "dataplane/io/test_eal.h"

namespace matchrdma::io {
namespace {

bool has(const std::vector<std::string>& args, const std::string& arg) {
  return std::find(args.begin(), args.end(), arg) != args.end();
}

TEST(IoEal, Arguments) {
  const auto lab =
      eal_arguments({.no_huge = true, .memory_mib = 64, .main_cpus = {0, 1}, .worker_cpus = {1, 1}});
  EXPECT_TRUE(has(lab, "--no-huge"));
  EXPECT_TRUE(has(lab, "--no-pci"));
  EXPECT_TRUE(has(lab, "--lcores=0@(0,1),1@1,2@1"));
  const auto nic = eal_arguments({.main_cpus = {3}, .pci = {"0000:3b:00.0"}});
  EXPECT_FALSE(has(nic, "--no-huge"));
  EXPECT_FALSE(has(nic, "--no-pci"));
  EXPECT_TRUE(has(nic, "0000:3b:00.0"));
  EXPECT_TRUE(has(nic, "--lcores=0@3"));
}

TEST(IoEal, AMissingCoreIsNamed) {
  const auto eal = Eal::start({.no_huge = true, .worker_cpus = {999}});
  ASSERT_FALSE(eal.ok());
  EXPECT_EQ(eal.error().find("core 999: this process may not run there; choose from "), 0u);
}

TEST(IoEal, WorkersShareACore) {
  uint32_t cpu = 0;
  while (Eal::start({.no_huge = true, .memory_mib = 16, .worker_cpus = {cpu, 999}}).error().find("core 999") !=
         0)
    ++cpu;
  auto eal = Eal::start({.no_huge = true, .memory_mib = 16, .worker_cpus = {cpu, cpu}});
  ASSERT_TRUE(eal.ok()) << eal.error();
  std::atomic<int> ran{0};
  for (int round = 0; round < 2; ++round) {
    for (uint32_t w = 0; w < 2; ++w)
      ASSERT_TRUE((*eal)->launch(w, [&ran, w] { ran += 1 + static_cast<int>(w); }).ok());
    (*eal)->join();
  }
  EXPECT_EQ(ran, 6);
  EXPECT_FALSE((*eal)->launch(2, [] {}).ok());
  EXPECT_EQ(Eal::start({.no_huge = true}).error(), "DPDK can be started once per process, and it was already");
}

TEST(IoClock, GoesForwardInNanoseconds) {
  test_eal();
  const Clock clock;
  const Instant a = clock.now();
  EXPECT_GE(a.ns, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_GE(clock.now() - a, Duration::millis(2));
}

TEST(IoIdle, WakesAndKeepsDeadlines) {
  test_eal();
  const Clock clock;
  auto idle = Idle::create(clock);
  ASSERT_TRUE(idle.ok());
  const Instant deadline = clock.now() + Duration::millis(5);
  while (clock.now() < deadline) (*idle)->wait(deadline);
  EXPECT_GT((*idle)->sleeps(), 0u);
  // A wake before the sleep is not lost, and several are one.
  for (int round = 0; round < 3; ++round) {
    (*idle)->wake();
    (*idle)->wake();
    (*idle)->wait(clock.now() + Duration::seconds(3600));
  }
  std::atomic<bool> go{false};
  std::thread other([&] {
    go = true;
    (*idle)->wake();
  });
  while (!go) (*idle)->wait(Instant::never());
  other.join();
}

TEST(IoIdle, SleepsAtLeastSoLong) {
  test_eal();
  const Clock clock;
  auto idle = Idle::create(clock);
  ASSERT_TRUE(idle.ok());
  (*idle)->coalesce(Duration::millis(2));
  for (const bool woken : {false, true}) {
    if (woken) (*idle)->wake();
    const Instant before = clock.now();
    (*idle)->wait(before + Duration::micros(10));
    EXPECT_GE(clock.now() - before, Duration::millis(2));
  }
}

TEST(IoIdle, PollsPortsThatCannotWake) {
  TestPort t("net_null0", 1500, 100);
  const Clock clock;
  auto idle = Idle::create(clock);
  ASSERT_TRUE(idle.ok());
  (*idle)->watch(*t.port, 0);
  for (int i = 0; i < 20; ++i) (*idle)->wait(Instant::never());
  EXPECT_EQ((*idle)->sleeps(), 20u);
}

}  // namespace
}  // namespace matchrdma::io
