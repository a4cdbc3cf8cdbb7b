#pragma once
#include "sim/border.h"
#include "sim/sim_context.h"
#include "sim/switch_node.h"
namespace matchrdma::sim {
struct PseudoAckSettings {};
class PseudoAckBorder final : public Border {
 public:
  PseudoAckBorder(SimContext&, SwitchNode&, const PseudoAckSettings&) {}
  bool takes(SimPacket*, bool, SimTime) override { return false; }
  void leaves(SimPacket&, bool, SimTime) override {}
};
}  // namespace matchrdma::sim
