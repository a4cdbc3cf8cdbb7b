#pragma once
// What a device tells beside completions (IBA 11.6.3). For the .cc files of this room alone.
#include <infiniband/verbs.h>

#include <initializer_list>
#include <string>

namespace matchrdma::host {

struct EventEffect {
  enum class What : uint8_t {
    kNothing,         ///< of this library's use of the device
    kTold,            ///< to people
    kOneQueuePair,    ///< it is lost
    kEveryQueuePair,  ///< all of the device are
  };
  What what = What::kNothing;
  std::string advice{};  ///< stands behind the name of the event
};
EventEffect effect_of(ibv_event_type type);

/// Duty: one descriptor for several: readable while one of them is.
class WakeUp {
 public:
  explicit WakeUp(std::initializer_list<int> fds);
  ~WakeUp();
  WakeUp(const WakeUp&) = delete;
  int fd() const { return fd_; }  ///< -1: the process has no descriptors left

 private:
  int fd_;
};

}  // namespace matchrdma::host
