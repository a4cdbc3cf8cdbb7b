#include "proxy/daemon/capabilities.h"

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

namespace matchrdma {
namespace {

using Sets = std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3>;

Sets sets() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  Sets s{};
  EXPECT_EQ(::syscall(SYS_capget, &header, s.data()), 0);
  return s;
}

// In a child, which gives up what it uses of what it may have. Without privileges both sets are empty.
TEST(Capabilities, WhatIsPermittedIsUsed) {
  const pid_t child = ::fork();
  if (child == 0) {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    const Sets before = sets();
    Sets none = before;
    for (auto& s : none) s.effective = 0;
    if (::syscall(SYS_capset, &header, none.data()) != 0) ::_exit(1);
    if (!raise_capabilities()) ::_exit(2);
    const Sets after = sets();
    for (size_t i = 0; i < after.size(); ++i) {
      if (after[i].effective != before[i].permitted || after[i].permitted != before[i].permitted) ::_exit(3);
      if (after[i].inheritable != before[i].inheritable) ::_exit(4);
    }
    ::_exit(raise_capabilities() ? 0 : 5);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace matchrdma
