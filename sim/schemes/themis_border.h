#pragma once
// THEMIS at the ends of a long link (SIMULATOR 6).
#include <cstdint>
#include <unordered_map>

#include "sim/border.h"
#include "sim/schemes/loop_count.h"
#include "sim/schemes/sender_answers.h"
#include "sim/schemes/themis_settings.h"
#include "sim/sim_context.h"
#include "sim/switch_node.h"
#include "sim/timer.h"

namespace matchrdma::sim {

/// Duty: PNP for data that leave the site (a mark becomes a CNP of this device) and TRP for data that come to
/// it (flows whose receivers ask for less go round in loops). ACKs pass. The loop port is never busy: a pass
/// lasts as long as the page says, whoever else loops. Packets in loops are held by the border, not charged to
/// the switch's ports.
class ThemisBorder final : public Border, private EventHandler {
 public:
  ThemisBorder(SimContext& context, SwitchNode& node, const ThemisSettings& settings)
      : context_(context), node_(node), s_(settings), cnps_(context, node, settings.cnp_delay) {}
  ThemisBorder(const ThemisBorder&) = delete;
  ThemisBorder& operator=(const ThemisBorder&) = delete;

  bool takes(SimPacket* p, bool from_long, SimTime now) override;
  void leaves(SimPacket& p, bool to_long, SimTime now) override;

  uint64_t cnps() const { return cnps_sent_; }   ///< of PNP
  uint64_t delayed() const { return delayed_; }  ///< packets, by TRP
  uint32_t looping() const { return looping_; }  ///< packets

 private:
  /// A flow that comes to this site and whose receiver has sent a CNP.
  struct Looped {
    Looped(ThemisBorder& border, uint32_t flow)
        : count(border.s_),
          exit(border.context_.events, border, uint64_t{flow} << 1),
          recovery(border.context_.events, border, uint64_t{flow} << 1 | 1) {}
    LoopCount count;
    SimPacketFifo loops{};  ///< in order; due: end of its own passes
    Timer exit, recovery;
  };

  void on_event(SimTime now, uint64_t argument) override;
  void count(uint32_t flow, SimTime now);
  bool loops(SimPacket* p, SimTime now);
  void let_out(Looped& f, SimTime now);
  void recover(Looped& f, SimTime now);
  SimSpan pass(const SimPacket& p) const {
    return context_.tick.serialise(p.size, s_.loop_rate) + s_.loop_delay;
  }

  SimContext& context_;
  SwitchNode& node_;
  ThemisSettings s_;
  SenderAnswers cnps_;
  std::unordered_map<uint32_t, SimTime> next_cnp_;  ///< of PNP, by flow
  std::unordered_map<uint32_t, Looped> looped_;     ///< by flow
  uint32_t looping_ = 0;
  uint64_t cnps_sent_ = 0, delayed_ = 0;
};

}  // namespace matchrdma::sim
