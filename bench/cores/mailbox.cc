#include <atomic>

#include "bench/cores/cores.h"
#include "proxy/daemon/mailbox.h"

namespace matchrdma::cores_bench {

Mail measure_mailbox(io::Eal& eal, const io::Clock& clock, uint32_t jobs) {
  daemon::Mailbox mailbox;
  constexpr int kLooks = 10'000'000;
  Mail m;
  const Instant began = clock.now();
  bool any = false;
  for (int i = 0; i < kLooks; ++i) any |= mailbox.drain();
  MRDMA_CHECK(!any);
  m.empty = static_cast<double>((clock.now() - began).ns) / kLooks;

  std::atomic<uint32_t> ran{0};
  std::atomic<int64_t> ran_at{0};
  MRDMA_CHECK(eal.launch(1,
                         [&] {
                           while (ran.load(std::memory_order_relaxed) < jobs) mailbox.drain();
                         })
                  .ok());
  std::vector<double> post, arrives;
  const auto job = [&] {
    ran_at.store(clock.now().ns, std::memory_order_relaxed);
    ran.fetch_add(1, std::memory_order_release);
  };
  MRDMA_CHECK(eal.launch(0,
                         [&] {
                           for (uint32_t i = 0; i < jobs; ++i) {
                             const Instant before = clock.now();
                             mailbox.post(job);
                             const Instant after = clock.now();
                             while (ran.load(std::memory_order_acquire) == i) {
                             }
                             post.push_back(static_cast<double>((after - before).ns));
                             arrives.push_back(
                                 static_cast<double>(ran_at.load(std::memory_order_relaxed) - before.ns));
                           }
                         })
                  .ok());
  eal.join();
  m.post = median(std::move(post));
  m.arrives = median(std::move(arrives));
  return m;
}

}  // namespace matchrdma::cores_bench
