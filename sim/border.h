#pragma once
// What a switch at the end of a long link may do besides forwarding (SIMULATOR 4 and 6).
#include <cstdint>

#include "sim/sim_packet.h"
#include "sim/sim_time.h"

namespace matchrdma::sim {

/// Duty: the behaviour of one OTN node, called by its switch. Gives packets back by SwitchNode::emit() and
/// SwitchNode::emit_long().
class Border {
 public:
  virtual ~Border() = default;
  /// A packet has come in, over the long link or from the own site. True: it belongs to the border now; false:
  /// the switch forwards it.
  virtual bool takes(SimPacket* p, bool from_long, SimTime now) = 0;
  /// The switch's own queue lets a packet out, with the mark that it may have got.
  virtual void leaves(SimPacket& p, bool to_long, SimTime now) = 0;
};

}  // namespace matchrdma::sim
