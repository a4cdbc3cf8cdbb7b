#include "controlplane/service/daemon_view.h"

#include <array>

namespace matchrdma::service {

const char* session_key(SessionState s) {
  constexpr std::array<const char*, 3> kKeys{"down", "hello", "up"};
  return kKeys[static_cast<size_t>(s)];
}

const char* drain_key(DrainState d) {
  constexpr std::array<const char*, 3> kKeys{"no", "draining", "drained"};
  return kKeys[static_cast<size_t>(d)];
}

const char* dispatch_key(Dispatch d) {
  constexpr std::array<const char*, 3> kKeys{"single", "rss", "software"};
  return kKeys[static_cast<size_t>(d)];
}

}  // namespace matchrdma::service
