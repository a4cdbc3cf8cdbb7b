#include "proxy/parallel.h"

#include <atomic>
#include <thread>
#include <vector>

namespace matchrdma {

void in_parallel(size_t count, unsigned jobs, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next = 0;
  const auto loop = [&] {
    for (size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> others;
  for (unsigned i = 1; i < jobs; ++i) others.emplace_back(loop);
  loop();
}

}  // namespace matchrdma
