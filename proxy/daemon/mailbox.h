#pragma once
// How the control thread and the workers reach each other: bounded queues of jobs, drained at one point of the
// receiver's loop.
#include <atomic>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace matchrdma::daemon {

/// Duty: carries jobs into the thread that drains it. A drain of an empty mailbox costs one load. Does not know
/// who it belongs to; `wake` is called after a post, from the posting thread.
class Mailbox {
 public:
  static constexpr size_t kCapacity = 4096;
  using Job = std::function<void()>;

  void set_wake(std::function<void()> wake) { wake_ = std::move(wake); }

  /// False: full, the job is dropped. Who posts repeats what matters.
  bool post(Job job) {
    {
      const std::lock_guard lock(mutex_);
      if (jobs_.size() == kCapacity) return false;
      jobs_.push_back(std::move(job));
      waiting_.store(true, std::memory_order_release);
    }
    if (wake_) wake_();
    return true;
  }

  /// Runs what was posted before; true when there was anything.
  bool drain() {
    if (!waiting_.load(std::memory_order_acquire)) return false;
    {
      const std::lock_guard lock(mutex_);
      taken_.swap(jobs_);
      waiting_.store(false, std::memory_order_relaxed);
    }
    for (Job& job : taken_) job();
    taken_.clear();
    return true;
  }

 private:
  std::atomic<bool> waiting_{false};
  std::mutex mutex_;
  std::vector<Job> jobs_, taken_;
  std::function<void()> wake_;
};

}  // namespace matchrdma::daemon
