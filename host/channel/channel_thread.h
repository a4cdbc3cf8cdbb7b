#pragma once
// The engines of one I/O thread.
#include <vector>

#include "host/channel/channel_engine.h"

namespace matchrdma::host {

/// Duty: one Nic with its one completion queue (on rdma-core: and its thread domain) for each I/O thread, and
/// the engines on it, each to another peer. Nothing of these is touched by another thread, so nothing is
/// locked.
class ChannelThread {
 public:
  explicit ChannelThread(Nic& nic) : nic_(nic), completions_(256) {}

  /// It stays until remove().
  void add(ChannelEngine& engine) { engines_.push_back(&engine); }
  void remove(ChannelEngine& engine) { std::erase(engines_, &engine); }

  /// Returns how many completions there were.
  size_t poll(Instant now) {
    size_t n = 0, all = 0;
    do {
      n = nic_.poll(completions_);
      all += n;
      for (size_t i = 0; i < n; ++i)
        for (ChannelEngine* e : engines_) e->on_completion(completions_[i], now);
    } while (n == completions_.size());
    for (ChannelEngine* e : engines_) e->poll(now);
    return all;
  }
  Instant next_wakeup() const {
    Instant at = Instant::never();
    for (const ChannelEngine* e : engines_) at = earlier(at, e->next_wakeup());
    return at;
  }

 private:
  Nic& nic_;
  std::vector<ChannelEngine*> engines_;
  std::vector<Completion> completions_;
};

}  // namespace matchrdma::host
