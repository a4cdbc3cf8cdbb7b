#pragma once
// Assertions of our own invariants. They stay on in release builds: a proxy that continues past a broken
// invariant loses somebody's bytes.
#include <cstdio>
#include <cstdlib>

namespace matchrdma {
[[noreturn]] inline void check_failed(const char* expr, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: invariant broken: %s\n", file, line, expr);
  std::abort();
}
}  // namespace matchrdma

#define MRDMA_CHECK(expr) \
  (__builtin_expect(!!(expr), 1) ? static_cast<void>(0) : ::matchrdma::check_failed(#expr, __FILE__, __LINE__))
