#pragma once
#include <time.h>

#include <array>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <thread>
#include <vector>

#include "bench/memory/shapes.h"
#include "dataplane/base/prng.h"

namespace matchrdma::memory_bench {

/// Buffers from one thread to the next, which frees them.
class Handover {
 public:
  bool push(void* p) {
    const size_t in = in_.load(std::memory_order_relaxed);
    if (in - out_.load(std::memory_order_acquire) == ring_.size()) return false;
    ring_[in % ring_.size()] = p;
    in_.store(in + 1, std::memory_order_release);
    return true;
  }
  void* pop() {
    const size_t out = out_.load(std::memory_order_relaxed);
    if (out == in_.load(std::memory_order_acquire)) return nullptr;
    void* p = ring_[out % ring_.size()];
    out_.store(out + 1, std::memory_order_release);
    return p;
  }

 private:
  std::array<void*, 16> ring_{};  // few: what waits in it is memory too
  alignas(64) std::atomic<size_t> in_ = 0;
  alignas(64) std::atomic<size_t> out_ = 0;
};

/// One thread's work: the same sizes in the same order for every allocator.
struct Plan {
  Plan(const Shape& shape, uint64_t seed) : slots(shape.live) {
    Prng random(seed);
    for (size_t i = 0; i < kSteps; ++i) {
      steps.push_back({static_cast<uint32_t>(draw(shape, random)),
                       static_cast<uint16_t>(random.below(shape.live)), random.chance(0.1)});
    }
  }
  struct Step {
    uint32_t size;
    uint16_t slot;
    bool cross;  ///< what stood in the slot is freed by the next thread
  };
  static constexpr size_t kSteps = 1 << 15;
  std::vector<Step> steps;
  std::vector<void*> slots;
};

inline double cpu_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

/// Duty: the threads of one shape. In a turn each of them fills its slots, then replaces buffers, and frees
/// them all; the CPU time of the middle is what counts, so that other processes do not.
class Crew {
 public:
  Crew(const Shape& shape, unsigned threads) : shape_(shape), boxes_(threads), ns_(threads) {
    for (unsigned t = 0; t < threads; ++t) plans_.emplace_back(shape, t + 1);
  }

  /// What they hold at once.
  size_t live_bytes() const {
    size_t sum = 0;
    for (const Plan& plan : plans_) {
      for (size_t i = 0; i < plan.slots.size(); ++i) sum += plan.steps[i].size;
    }
    return sum;
  }

  /// CPU time of a pair, in nanoseconds. A quarter of the pairs before that fills caches and is not counted.
  template <class Allocator>
  double turn(Allocator& allocator) {
    std::barrier sync(static_cast<ptrdiff_t>(plans_.size()));
    std::vector<std::thread> threads;
    for (size_t t = 0; t < plans_.size(); ++t) {
      threads.emplace_back([&, t] {
        const bool alone = plans_.size() == 1;
        fill(allocator, t);
        replace(allocator, t, alone, shape_.pairs / 4);
        sync.arrive_and_wait();
        const double start = cpu_ns();
        replace(allocator, t, alone, shape_.pairs);
        ns_[t] = cpu_ns() - start;
        sync.arrive_and_wait();
        drain(allocator, t);
      });
    }
    for (std::thread& t : threads) t.join();
    double sum = 0;
    for (const double ns : ns_) sum += ns;
    return sum / static_cast<double>(shape_.pairs * plans_.size());
  }

 private:
  template <class Allocator>
  void fill(Allocator& allocator, size_t t) {
    for (size_t i = 0; i < plans_[t].slots.size(); ++i) {
      plans_[t].slots[i] = allocator.allocate(plans_[t].steps[i].size);
    }
  }
  template <class Allocator>
  void replace(Allocator& allocator, size_t t, bool alone, size_t pairs) {
    Plan& plan = plans_[t];
    Handover& mine = boxes_[t];
    Handover& next = boxes_[(t + 1) % boxes_.size()];
    for (size_t i = 0; i < pairs; ++i) {
      const Plan::Step& step = plan.steps[i % Plan::kSteps];
      void*& slot = plan.slots[step.slot];
      if (alone || !step.cross || !next.push(slot)) allocator.free(slot);
      slot = allocator.allocate(step.size);
      if (slot == nullptr) std::abort();
      *static_cast<volatile char*>(slot) = 1;
      if (!alone) {
        while (void* p = mine.pop()) allocator.free(p);
      }
    }
  }
  template <class Allocator>
  void drain(Allocator& allocator, size_t t) {
    while (void* p = boxes_[t].pop()) allocator.free(p);
    for (void*& p : plans_[t].slots) allocator.free(p);
  }

  const Shape shape_;
  std::vector<Plan> plans_;
  std::vector<Handover> boxes_;
  std::vector<double> ns_;
};

}  // namespace matchrdma::memory_bench
