#pragma once
// A replay that must not end in an error.
#include <gtest/gtest.h>

#include <utility>

#include "pcap/replay_options.h"

namespace matchrdma {

inline ReplayResult run(const ReplayOptions& o) {
  auto r = replay(o);
  if (!r) {
    ADD_FAILURE() << r.error();
    return {};
  }
  return std::move(*r);
}

}  // namespace matchrdma
