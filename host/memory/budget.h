#pragma once
// How many bytes may be registered. The kernel locks registered pages and counts them against RLIMIT_MEMLOCK.
#include <atomic>
#include <cstddef>

namespace matchrdma::host {

class Budget {
 public:
  explicit Budget(size_t limit) : limit_(limit) {}

  /// Nothing is taken where it does not all fit.
  bool take(size_t bytes) {
    size_t used = used_.load();
    do {
      if (bytes > limit_ - used) return false;
    } while (!used_.compare_exchange_weak(used, used + bytes));
    return true;
  }
  void give(size_t bytes) { used_ -= bytes; }
  size_t limit() const { return limit_; }
  size_t used() const { return used_.load(); }

 private:
  size_t limit_;
  std::atomic<size_t> used_ = 0;
};

}  // namespace matchrdma::host
