#include "bench/memory/contenders.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>

namespace matchrdma::memory_bench {
namespace {

Result<LoadedAllocator> functions_of(void* library, const std::string& name, const char* allocate,
                                     const char* free) {
  if (library == nullptr) return Error{"cannot load " + name + ": " + ::dlerror()};
  LoadedAllocator a;
  a.allocate_function =
      reinterpret_cast<void* (*)(size_t)>(::dlsym(library, allocate));          // NOLINT: what dlsym is for
  a.free_function = reinterpret_cast<void (*)(void*)>(::dlsym(library, free));  // NOLINT
  if (a.allocate_function == nullptr || a.free_function == nullptr) {
    return Error{name + " has no " + allocate + " or no " + free};
  }
  return a;
}

}  // namespace

Result<LoadedAllocator> load(const std::string& library, const char* allocate, const char* free) {
  return functions_of(::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL), library, allocate, free);
}

Result<LoadedAllocator> load_copy(const LoadedAllocator& first, const char* conf, const char* allocate,
                                  const char* free) {
  Dl_info info{};
  ::dladdr(reinterpret_cast<void*>(first.allocate_function), &info);  // NOLINT
  const int from = ::open(info.dli_fname, O_RDONLY | O_CLOEXEC), to = ::memfd_create("copy", MFD_CLOEXEC);
  std::array<char, 65536> piece{};
  for (ssize_t n = 0; (n = ::read(from, piece.data(), piece.size())) > 0;) {
    if (::write(to, piece.data(), static_cast<size_t>(n)) != n) return Error{"cannot copy a library"};
  }
  ::close(from);
  ::setenv("MALLOC_CONF", conf, 1);
  const std::string path = "/proc/self/fd/" + std::to_string(to);
  auto loaded = functions_of(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL), info.dli_fname, allocate, free);
  ::unsetenv("MALLOC_CONF");
  if (loaded && loaded->allocate_function == first.allocate_function) return Error{"the copy is the first one"};
  return loaded;
}

void make_room_for_tls(char** argv) {
  constexpr const char* kName = "GLIBC_TUNABLES";
  constexpr const char* kRoom = "glibc.rtld.optional_static_tls=16384";
  const char* old = std::getenv(kName);
  if (old != nullptr && std::strstr(old, kRoom) != nullptr) return;
  ::setenv(kName, old != nullptr ? (std::string(old) + ":" + kRoom).c_str() : kRoom, 1);
  ::execv("/proc/self/exe", argv);  // where it fails, loading will say so
}

}  // namespace matchrdma::memory_bench
