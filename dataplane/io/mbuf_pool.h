#pragma once
// Packet memory in DPDK's mbufs.
#include <cstdint>
#include <memory>
#include <string>

#include "dataplane/base/packet.h"
#include "dataplane/base/result.h"

struct rte_mempool;

namespace matchrdma::io {

/// What a pool must hold, in packets.
struct PoolNeeds {
  uint32_t rx_rings = 0;  ///< descriptors of all receive queues fed from this pool
  uint32_t tx_rings = 0;  ///< descriptors of all transmit queues that its packets may wait in
  uint32_t kept = 0;      ///< packets that the core may keep: custody, reordering, or a span in flight
};

/// rx rings + tx rings + kept + slack, the slack being one burst per queue and what the caches of the worker
/// and of the main thread may hide.
struct PoolSize {
  uint32_t packets = 0;
  uint32_t slack = 0;
  uint64_t bytes = 0;  ///< of memory, with all headers
  std::string arithmetic{};
};
PoolSize pool_size(const PoolNeeds& needs, uint32_t packet_room);
/// How many packets of this room `bytes` of memory hold.
uint32_t packets_in(uint64_t bytes, uint32_t packet_room);

/// Duty: mbufs as Packets. The core's references are counted in Packet::refs and stand for one count of the
/// mbuf; whatever a driver holds is counted by the mbuf alone. One pool per worker; packets may be given back
/// by any thread. Does not know ports.
class MbufPool final : public PacketPool {
 public:
  /// `packet_room`: the largest frame (PortPlan::packet_room). `name`: unique in the process, at most 20 bytes.
  static Result<std::unique_ptr<MbufPool>> create(const std::string& name, uint32_t packets,
                                                  uint32_t packet_room);
  /// No port may use the pool any more.
  ~MbufPool() override;
  MbufPool(const MbufPool&) = delete;
  MbufPool& operator=(const MbufPool&) = delete;

  PacketRef alloc(uint32_t size) override;
  void recycle(Packet* p) noexcept override;
  void prefetch(const Packet* p) const override;
  bool at_rest(const Packet& p) const override;

  uint32_t packets() const { return packets_; }
  uint32_t packet_room() const { return packet_room_; }
  /// Free packets, those in caches included. Walks the caches: not for the packet path.
  uint32_t available() const;
  rte_mempool* mempool() const { return pool_; }

 private:
  MbufPool(rte_mempool* pool, uint32_t packets, uint32_t packet_room)
      : pool_(pool), packets_(packets), packet_room_(packet_room) {}
  rte_mempool* pool_;
  uint32_t packets_;
  uint32_t packet_room_;
};

}  // namespace matchrdma::io
