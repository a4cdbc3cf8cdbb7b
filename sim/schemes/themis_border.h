#pragma once
#include "sim/border.h"
#include "sim/schemes/themis_settings.h"
#include "sim/sim_context.h"
#include "sim/switch_node.h"
namespace matchrdma::sim {
class ThemisBorder final : public Border {
 public:
  ThemisBorder(SimContext&, SwitchNode&, const ThemisSettings&) {}
  bool takes(SimPacket*, bool, SimTime) override { return false; }
  void leaves(SimPacket&, bool, SimTime) override {}
};
}  // namespace matchrdma::sim
