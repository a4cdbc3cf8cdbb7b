#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "dataplane/base/result.h"
#include "host/memory/registered_heap.h"

namespace matchrdma::memory_bench {

/// An allocator as two functions of a library that was loaded beside the program's own.
struct LoadedAllocator {
  void* (*allocate_function)(size_t) = nullptr;
  void (*free_function)(void*) = nullptr;

  void* allocate(size_t size) const { return allocate_function(size); }
  void free(void* p) const { free_function(p); }
};

/// From a library's file name and the names of its functions.
Result<LoadedAllocator> load(const std::string& library, const char* allocate, const char* free);
/// The same from a second copy of the library, which lives beside the first, with MALLOC_CONF set while it
/// starts.
Result<LoadedAllocator> load_copy(const LoadedAllocator& first, const char* conf, const char* allocate,
                                  const char* free);

/// jemalloc wants 2.6 KB of each thread's static TLS, more than glibc keeps for what is loaded later. Starts
/// the program anew with room for it, once.
void make_room_for_tls(char** argv);

/// A device that registers nothing: what is measured is the heap.
class NoDevice final : public host::Registrar {
 public:
  Result<host::Region> add(void*, size_t) override { return host::Region{}; }
  void remove(const host::Region&) override {}
};

}  // namespace matchrdma::memory_bench
