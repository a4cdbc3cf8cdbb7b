#pragma once
// What every node of one run shares.
#include "sim/event_core.h"
#include "sim/frame_sizes.h"
#include "sim/sim_packet.h"
#include "sim/sim_time.h"

namespace matchrdma::sim {

struct SimContext {
  FrameSizes frames = kRoceFrames;
  Tick tick{};
  EventCore events{};
  SimPacketPool packets{};
};

}  // namespace matchrdma::sim
