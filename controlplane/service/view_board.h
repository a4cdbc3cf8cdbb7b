#pragma once
#include <mutex>
#include <utility>

#include "controlplane/service/daemon_view.h"

namespace matchrdma::service {

/// Where the newest view hangs: the control thread publishes, anyone but a worker reads. A reader keeps what it
/// took for as long as it likes. The lock is held for a pointer copy, and no worker ever takes it.
class ViewBoard {
 public:
  void publish(ViewPtr view) {
    const std::lock_guard lock(mutex_);
    view_.swap(view);  // the old view dies outside the lock, if nobody reads it
  }
  /// nullptr until the first was published.
  ViewPtr view() const {
    const std::lock_guard lock(mutex_);
    return view_;
  }

 private:
  mutable std::mutex mutex_;
  ViewPtr view_;
};

}  // namespace matchrdma::service
