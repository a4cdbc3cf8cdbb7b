#pragma once
// The jemalloc that only the heap calls: Debian's libjemalloc_pic.a, in which every symbol has got the prefix
// mrdma_je_ (rename_symbols.sh). The process keeps its own malloc (C14). jemalloc.h gives types and flags; what
// it declares without the prefix does not exist here.
#define JEMALLOC_NO_RENAME
#include <jemalloc/jemalloc.h>

#include <cstddef>
#include <string>

extern "C" {
void* mrdma_je_mallocx(size_t size, int flags);
void mrdma_je_dallocx(void* p, int flags);
size_t mrdma_je_sallocx(const void* p, int flags);
size_t mrdma_je_nallocx(size_t size, int flags);
int mrdma_je_mallctl(const char* name, void* old, size_t* old_size, void* fresh, size_t fresh_size);
}

namespace matchrdma::host::jemalloc {

/// 0, or an errno.
template <class T>
int read(const char* name, T& value) {
  size_t size = sizeof value;
  return mrdma_je_mallctl(name, &value, &size, nullptr, 0);
}
template <class T>
int write(const char* name, T value) {
  return mrdma_je_mallctl(name, nullptr, nullptr, &value, sizeof value);
}
inline int act(const std::string& name) { return mrdma_je_mallctl(name.c_str(), nullptr, nullptr, nullptr, 0); }

}  // namespace matchrdma::host::jemalloc
