#pragma once
#include <gtest/gtest.h>

#include "tests/tags/pair_rig.h"

namespace matchrdma::tags {

/// The rig connected; PSN 100 of a is acknowledged to it and confirmed by its receiver; nothing is on the LANs.
inline void confirm_first(PairRig& rig) {
  rig.connect();
  rig.from_a(write_only(100));
  rig.run(Duration::millis(1));
  rig.from_b(answer(100, 1));
  rig.run(Duration::millis(1));
  ASSERT_EQ(rig.a.shard.owned_packets(), 0u);
  rig.a.lan.clear();
  rig.b.lan.clear();
}

}  // namespace matchrdma::tags
