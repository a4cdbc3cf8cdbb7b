#pragma once
// Packets that a device delivered to the wrong worker, or could deliver to one worker only.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dataplane/base/bytes.h"
#include "dataplane/base/packet.h"
#include "dataplane/base/result.h"
#include "dataplane/base/types.h"

namespace matchrdma::io {

class Idle;

/// Duty: brings every packet to the worker that owns its pair of IP addresses, over one ring per pair of
/// workers. Both directions of a flow have one owner. Packet::tag travels along. Does not know ports or flows.
class Dispatch {
 public:
  /// `ring_packets`: a power of two, the bound of what waits between two workers.
  static Result<std::unique_ptr<Dispatch>> create(uint16_t workers, uint32_t ring_packets);
  /// Gives back what still waits. The workers must have stopped.
  ~Dispatch();
  Dispatch(const Dispatch&) = delete;
  Dispatch& operator=(const Dispatch&) = delete;

  /// The owner of a frame by its VLAN ids and IP addresses, the same for both directions; worker 0 for
  /// everything that is not IP.
  static uint16_t owner(Bytes frame, uint16_t workers);
  /// The same, by what such a frame carries. VLAN id 0: no tag.
  static uint16_t owner_of(const IpAddress& a, const IpAddress& b, uint16_t vlan_outer, uint16_t vlan_inner,
                           uint16_t workers);
  /// Whom to wake when something was handed to worker `w`. Before the workers start.
  void set_idle(uint16_t w, Idle* idle);

  /// Called by worker `me` with what it received: moves what belongs to others into their rings and what is its
  /// own to the front. Returns how many stay. What a full ring does not take is dropped and counted.
  uint32_t sort(uint16_t me, std::span<PacketRef> burst);
  /// What others have handed to worker `me`.
  uint32_t take(uint16_t me, std::span<PacketRef> out);
  /// Packets from worker `me` that were dropped before a full ring.
  uint64_t dropped(uint16_t me) const;

 private:
  struct Impl;
  explicit Dispatch(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace matchrdma::io
