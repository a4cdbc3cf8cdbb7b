#pragma once
// Two hosts at two sites and the wires between them.
#include <array>

#include "model/cm_agent.h"
#include "model/host.h"
#include "model/packet_arena.h"
#include "model/span.h"
#include "pcap/make/tap.h"

namespace matchrdma {

/// Duty: moves packets from host to host past the tap, in virtual time. Does not know why they were sent.
class HostPair {
 public:
  /// `r` and `arena` must outlive it.
  HostPair(const TraceRecipe& r, uint32_t number, model::PacketArena& arena);
  HostPair(const HostPair&) = delete;

  /// Packets that are due reach their hosts. True when there were any.
  bool arrive(Instant now);
  /// The hosts send what they can, and what is due passes the tap.
  void depart(Instant now, Tap& tap);
  /// Something was posted, or a connection manager was told something: hosts look again in the next depart().
  void touch() { touched_ = {true, true}; }
  Instant next() const;
  /// Nothing travels.
  bool quiet() const;

  model::Host& host(int side) { return hosts_[at(side)]; }
  model::CmAgent& cm(int side) { return cms_[at(side)]; }
  uint32_t number() const { return number_; }
  uint64_t lost() const;

 private:
  static size_t at(int side) { return static_cast<size_t>(side); }

  uint32_t number_;
  std::array<model::CmAgent, 2> cms_;
  std::array<model::Host, 2> hosts_;
  std::array<model::PacketSpan, 2> to_tap_, from_tap_;  ///< by the sending side
  std::array<bool, 2> touched_{};
  std::array<Instant, 2> due_{Instant::never(), Instant::never()};  ///< of the hosts: asking all QPs is dear
};

}  // namespace matchrdma
