#include "dataplane/io/device_claim.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

namespace matchrdma::io {
namespace {

std::string own_name() { return "test" + std::to_string(getpid()); }

TEST(DeviceClaim, IsHeldOnceAndGivenBack) {
  std::optional<DeviceClaim> first;
  {
    auto r = DeviceClaim::take(own_name());
    ASSERT_TRUE(r.ok()) << r.error();
    first.emplace(std::move(*r));
  }
  for (int i = 0; i < 20; ++i) {  // more than may knock
    const auto again = DeviceClaim::take(own_name());
    ASSERT_FALSE(again.ok());
    EXPECT_NE(again.error().find(own_name() + " is used already"), std::string::npos) << again.error();
    if (i == 0) {
      EXPECT_NE(again.error().find("process " + std::to_string(getpid())), std::string::npos) << again.error();
    }
  }
  EXPECT_TRUE(DeviceClaim::take(own_name() + "x").ok());
  first.reset();
  EXPECT_TRUE(DeviceClaim::take(own_name()).ok());
}

TEST(DeviceClaim, EndsWithAProcessThatIsKilled) {
  const std::string name = own_name();
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto r = DeviceClaim::take(name);
    const char told = r.ok() ? 'y' : 'n';
    static_cast<void>(!write(ready[1], &told, 1));
    pause();
    _exit(0);
  }
  char told = 0;
  ASSERT_EQ(read(ready[0], &told, 1), 1);
  EXPECT_EQ(told, 'y');
  EXPECT_FALSE(DeviceClaim::take(name).ok());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(DeviceClaim::take(name).ok());
  close(ready[0]);
  close(ready[1]);
}

TEST(DeviceClaim, RefusesANameThatNoKernelTakes) {
  EXPECT_FALSE(DeviceClaim::take(std::string(200, 'x')).ok());
}

}  // namespace
}  // namespace matchrdma::io
