#pragma once
#include <cstdint>

namespace matchrdma {

/// What became of a request that was offered the short way of its role.
enum class Plain : uint8_t {
  kNo,  ///< nothing has changed: it must go the long way
  kTaken,
  kOwes,  ///< taken, and the flow must be looked at when the run ends: an ACK, a report or a timer is due
};

}  // namespace matchrdma
