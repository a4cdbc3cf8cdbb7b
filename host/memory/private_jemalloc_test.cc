// C14: the program keeps its malloc. private_symbols_test.py looks at the same from the outside, by the
// linker's names.
#include "host/memory/private_jemalloc.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "host/memory/registered_heap.h"
#include "host/memory/test_registrar.h"

namespace matchrdma::host {
namespace {

/// The file that defines a function of the C library, as the program's calls find it.
std::string owner_of(const char* name) {
  void* function = ::dlsym(RTLD_DEFAULT, name);
  Dl_info info{};
  if (function == nullptr || ::dladdr(function, &info) == 0) return "nobody";
  return info.dli_fname;
}

bool option(const char* name) {
  bool value = true;
  EXPECT_EQ(jemalloc::read(name, value), 0) << name;
  return value;
}

TEST(PrivateJemalloc, TheProgramsMallocIsStillTheCLibrarys) {
  for (const char* name : {"malloc", "free", "calloc", "realloc", "posix_memalign", "aligned_alloc"}) {
    const std::string owner = owner_of(name);
    EXPECT_TRUE(owner.find("/libc.so") != std::string::npos || owner.find("/libasan.so") != std::string::npos)
        << name << " is of " << owner;
  }
  for (const char* name : {"mallocx", "mallctl", "sdallocx"}) EXPECT_EQ(owner_of(name), "nobody") << name;
}

uint64_t allocated_by_private() {
  uint64_t epoch = 1;
  EXPECT_EQ(jemalloc::write("epoch", epoch), 0);
  size_t allocated = 0;
  EXPECT_EQ(jemalloc::read("stats.allocated", allocated), 0);
  return allocated;
}

TEST(PrivateJemalloc, ServesTheHeapAndNothingElse) {
  test::TestRegistrar registrar;
  auto heap = RegisteredHeap::create(registrar, {64 * kChunk, 1});
  ASSERT_TRUE(heap.ok());
  const uint64_t before = allocated_by_private();
  void* ours = std::malloc(8 << 20);
  EXPECT_EQ(allocated_by_private(), before);
  EXPECT_EQ((*heap)->find(ours), nullptr);
  std::free(ours);
  void* p = (*heap)->allocate(8 << 20);
  EXPECT_GE(allocated_by_private(), before + (8 << 20));
  (*heap)->free(p);
}

// What the heap relies on holds whatever MALLOC_CONF says, which is the process allocator's.
TEST(PrivateJemalloc, ItsOptionsAreOurs) {
  const char* version = nullptr;
  ASSERT_EQ(jemalloc::read("version", version), 0);
  EXPECT_EQ(std::string(version), JEMALLOC_VERSION);
  EXPECT_FALSE(option("opt.retain"));
  EXPECT_FALSE(option("opt.cache_oblivious"));
  EXPECT_FALSE(option("opt.background_thread"));
  EXPECT_FALSE(option("opt.zero"));
  size_t fit = 0;
  ASSERT_EQ(jemalloc::read("opt.lg_extent_max_active_fit", fit), 0);
  EXPECT_EQ(fit, 63u);
}

}  // namespace
}  // namespace matchrdma::host
