#include "dataplane/flow/flow_state.h"

#include "dataplane/base/check.h"

namespace matchrdma {
namespace {

using S = FlowState;
using E = FlowEvent;
constexpr Transition kTable[] = {
    {S::kPaired, E::kOpen, S::kOpening},
    {S::kPaired, E::kFault, S::kPoisoned},
    {S::kPaired, E::kGiveUp, S::kTransparent},
    {S::kPaired, E::kNewGeneration, S::kPaired},
    {S::kOpening, E::kOpened, S::kBasing},
    {S::kOpening, E::kRefused, S::kTransparent},
    {S::kOpening, E::kNotYet, S::kPaired},
    {S::kOpening, E::kFault, S::kPoisoned},
    {S::kOpening, E::kGiveUp, S::kTransparent},
    {S::kOpening, E::kNewGeneration, S::kClosing},
    {S::kBasing, E::kBaseAnswered, S::kBarrier},
    {S::kBasing, E::kBaseAnsweredFresh, S::kActive},
    {S::kBasing, E::kForget, S::kClosing},
    {S::kBasing, E::kFault, S::kPoisoned},
    {S::kBasing, E::kGiveUp, S::kClosing},
    {S::kBasing, E::kNewGeneration, S::kClosing},
    {S::kBarrier, E::kLift, S::kActive},
    {S::kBarrier, E::kForget, S::kClosing},
    {S::kBarrier, E::kFault, S::kPoisoned},
    {S::kBarrier, E::kGiveUp, S::kClosing},
    {S::kBarrier, E::kNewGeneration, S::kClosing},
    {S::kActive, E::kForget, S::kClosing},
    {S::kActive, E::kDoubt, S::kDoubted},
    {S::kActive, E::kFault, S::kPoisoned},
    {S::kActive, E::kNewGeneration, S::kClosing},
    {S::kActive, E::kGiveUp, S::kClosing},
    {S::kDoubted, E::kFault, S::kPoisoned},
    {S::kDoubted, E::kGiveUp, S::kClosing},
    {S::kDoubted, E::kNewGeneration, S::kClosing},
    {S::kClosing, E::kClosed, S::kPaired},
    {S::kClosing, E::kGiveUp, S::kTransparent},
    {S::kClosing, E::kFault, S::kPoisoned},
    {S::kClosing, E::kNewGeneration, S::kClosing},
    {S::kPoisoned, E::kNewGeneration, S::kClosing},
    {S::kPoisoned, E::kFault, S::kPoisoned},
    {S::kTransparent, E::kNewGeneration, S::kPaired},
    {S::kTransparent, E::kFault, S::kPoisoned},
    {S::kActive, E::kPeerStarted, S::kReopening},
    {S::kReopening, E::kPeerStarted, S::kReopening},
    {S::kReopening, E::kReopened, S::kActive},
    {S::kReopening, E::kFault, S::kPoisoned},
    {S::kReopening, E::kNewGeneration, S::kClosing},
    {S::kReopening, E::kGiveUp, S::kClosing},
    {S::kReopening, E::kForget, S::kClosing},
};

}  // namespace

const char* state_name(FlowState s) {
  static constexpr const char* kNames[] = {"paired",    "opening", "basing",  "barrier",  "active",
                                           "reopening", "doubted", "closing", "poisoned", "transparent"};
  return kNames[static_cast<size_t>(s)];
}

const char* event_name(FlowEvent e) {
  static constexpr const char* kNames[] = {
      "open",    "opened",       "refused",        "not_yet", "base_answered", "base_answered_fresh",
      "lift",    "forget",       "new_generation", "closed",  "doubt",         "fault",
      "give_up", "peer_started", "reopened"};
  return kNames[static_cast<size_t>(e)];
}

std::span<const Transition> flow_transitions() { return kTable; }

bool can(FlowState from, FlowEvent event) {
  for (const Transition& t : kTable) {
    if (t.from == from && t.event == event) return true;
  }
  return false;
}

FlowState next_state(FlowState from, FlowEvent event) {
  for (const Transition& t : kTable) {
    if (t.from == from && t.event == event) return t.to;
  }
  check_failed("flow transition is declared", __FILE__, __LINE__);
}

}  // namespace matchrdma
