#pragma once
// One direction of a cable or of a long fibre.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/base/prng.h"
#include "sim/event_core.h"
#include "sim/sim_context.h"

namespace matchrdma::sim {

/// Whatever has ports.
class Node {
 public:
  /// A whole frame has arrived; it belongs to the node now.
  virtual void receive(SimPacket* p, uint32_t port, SimTime now) = 0;

 protected:
  ~Node() = default;
};

/// No light enters the fibre from `from` until `until`.
struct DownTime {
  SimTime from{}, until{};
};

struct LinkSpec {
  Rate rate{100'000'000'000};
  SimSpan delay = SimSpan::micros(1);  ///< one way
  double loss = 0;                     ///< chance of each frame
  uint64_t seed = 1;                   ///< of that chance
  std::vector<DownTime> down{};        ///< in order, without overlap
};

/// Duty: serialises one frame at a time and delivers in order after the delay. What is on the fibre is a FIFO
/// with one pending event, so the length of the fibre costs memory and no time. Does not queue: the sender
/// waits until it is free, and is not told of loss. A lost frame vanishes at the far end, so it costs no more
/// events than others.
class Link final : private EventHandler {
 public:
  Link(SimContext& context, const LinkSpec& spec, Node& to, uint32_t to_port)
      : context_(context),
        spec_(spec),
        to_(to),
        to_port_(to_port),
        may_fail_(spec.loss > 0 || !spec.down.empty()),
        prng_(spec.seed) {}
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  const LinkSpec& spec() const { return spec_; }
  SimTime free_at() const { return free_at_; }
  uint64_t lost() const { return lost_; }  ///< frames
  /// Only when free.
  void send(SimPacket* p, SimTime now) {
    MRDMA_CHECK(now >= free_at_);
    free_at_ = now + context_.tick.serialise(p->size + context_.frames.gap, spec_.rate);
    p->due = free_at_ + spec_.delay;
    if (on_fibre_.empty()) context_.events.schedule(p->due, *this);
    on_fibre_.push(p);
  }

 private:
  void on_event(SimTime now, uint64_t) override {
    SimPacket* p = on_fibre_.pop();
    if (!on_fibre_.empty()) context_.events.schedule(on_fibre_.front()->due, *this);
    if (may_fail_ && fails(*p)) {
      ++lost_;
      context_.packets.release(p);
    } else {
      to_.receive(p, to_port_, now);
    }
  }
  bool fails(const SimPacket& p);

  SimContext& context_;
  LinkSpec spec_;
  Node& to_;
  uint32_t to_port_;
  SimTime free_at_{};
  SimPacketFifo on_fibre_;
  bool may_fail_;
  Prng prng_;
  size_t next_down_ = 0;  ///< first down time that may still matter
  uint64_t lost_ = 0;
};

}  // namespace matchrdma::sim
