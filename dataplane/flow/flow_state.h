#pragma once
// Lives of a flow at its source and at its destination, as declared transition tables (law 8).
#include <cstdint>
#include <span>

namespace matchrdma {

enum class FlowState : uint8_t {
  kPaired,       ///< both QPNs known, nothing kept
  kOpening,      ///< FLOW_OPEN sent
  kBasing,       ///< FLOW_BASE sent, copies kept from base on
  kBarrier,      ///< tracked; no pseudo-ACK before a real ACK >= base - 1
  kActive,       ///< pseudo-ACKs may be given
  kReopening,    ///< the peer lost its memory: owned packets wait until it knows base again
  kDoubted,      ///< the destination gave up: is the sender stuck, or acknowledged by another path?
  kClosing,      ///< old generation being destroyed at both ends
  kPoisoned,     ///< the QP was failed
  kTransparent,  ///< watched only
  kCount
};
enum class FlowEvent : uint8_t {
  kOpen,
  kOpened,
  kRefused,
  kNotYet,
  kBaseAnswered,
  kBaseAnsweredFresh,
  kLift,
  kForget,
  kNewGeneration,
  kClosed,
  kDoubt,
  kFault,
  kGiveUp,
  kPeerStarted,
  kReopened,
  kCount
};

struct Transition {
  FlowState from;
  FlowEvent event;
  FlowState to;
};

const char* state_name(FlowState s);
const char* event_name(FlowEvent e);
std::span<const Transition> flow_transitions();
/// The state after `event`; asserts that the table has it.
FlowState next_state(FlowState from, FlowEvent event);
/// True when the table has that transition.
bool can(FlowState from, FlowEvent event);

}  // namespace matchrdma
