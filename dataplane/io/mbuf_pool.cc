#include "dataplane/io/mbuf_pool.h"
#include "dataplane/base/prefetch.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_mempool.h>

#include <algorithm>
#include <new>

#include "dataplane/io/mbuf_packet.h"

namespace matchrdma::io {
namespace {

constexpr uint32_t kCache = 512;
/// DPDK lets a cache grow to 1.5 times its size before it flushes.
constexpr uint32_t kHiddenInCache = kCache + kCache / 2;
constexpr uint32_t kBurst = 32;
constexpr uint32_t kPrivate = RTE_CACHE_LINE_SIZE;
static_assert(sizeof(Packet) <= kPrivate);

uint32_t data_room(uint32_t packet_room) { return RTE_PKTMBUF_HEADROOM + packet_room; }

uint32_t object_size(uint32_t packet_room) {
  rte_mempool_objsz size{};
  return rte_mempool_calc_obj_size(static_cast<uint32_t>(sizeof(rte_mbuf)) + kPrivate + data_room(packet_room),
                                   0, &size);
}

void make_packet(rte_mempool*, void* pool, void* object, unsigned) {
  auto* const m = static_cast<rte_mbuf*>(object);
  new (rte_mbuf_to_priv(m)) Packet{.pool = static_cast<PacketPool*>(pool)};
}

/// rte_pktmbuf_pool_create() with flags of our own: on ordinary pages it would let no mbuf cross a page of 4
/// KiB, for the sake of devices that address physical memory, and waste up to half of all memory.
rte_mempool* make_mempool(const std::string& name, uint32_t packets, uint16_t room) {
  const uint32_t cache = packets >= 2 * kHiddenInCache ? kCache : 0;
  const uint32_t flags = rte_eal_has_hugepages() != 0 ? 0 : RTE_MEMPOOL_F_NO_IOVA_CONTIG;
  rte_mempool* pool = rte_mempool_create_empty(
      name.c_str(), packets, static_cast<uint32_t>(sizeof(rte_mbuf)) + kPrivate + room, cache,
      sizeof(rte_pktmbuf_pool_private), static_cast<int>(rte_socket_id()), flags);
  if (pool == nullptr) return nullptr;
  rte_pktmbuf_pool_private sizes{};
  sizes.mbuf_data_room_size = room;
  sizes.mbuf_priv_size = kPrivate;
  int r = rte_mempool_set_ops_byname(pool, rte_mbuf_best_mempool_ops(), nullptr);
  if (r == 0) {
    rte_pktmbuf_pool_init(pool, &sizes);
    r = rte_mempool_populate_default(pool);
  }
  if (r < 0) {
    rte_mempool_free(pool);
    rte_errno = -r;
    return nullptr;
  }
  rte_mempool_obj_iter(pool, rte_pktmbuf_init, nullptr);
  return pool;
}

}  // namespace

PoolSize pool_size(const PoolNeeds& needs, uint32_t packet_room) {
  PoolSize s;
  s.slack = 4 * kBurst + 2 * kHiddenInCache;
  s.packets = needs.rx_rings + needs.tx_rings + needs.kept + s.slack;
  const uint32_t each = object_size(packet_room);
  s.bytes = uint64_t{s.packets} * each;
  s.arithmetic = std::to_string(needs.rx_rings) + " in receive rings + " + std::to_string(needs.tx_rings) +
                 " in transmit rings + " + std::to_string(needs.kept) + " kept + " + std::to_string(s.slack) +
                 " slack = " + std::to_string(s.packets) + " packets of " + std::to_string(each) +
                 " bytes = " + std::to_string((s.bytes + (1u << 20) - 1) >> 20) + " MiB";
  return s;
}

uint32_t packets_in(uint64_t bytes, uint32_t packet_room) {
  return static_cast<uint32_t>(std::min<uint64_t>(bytes / object_size(packet_room), 1u << 30));
}

Result<std::unique_ptr<MbufPool>> MbufPool::create(const std::string& name, uint32_t packets,
                                                   uint32_t packet_room) {
  const uint32_t room = data_room(packet_room);
  if (room > UINT16_MAX) {
    return Error{"packets of " + std::to_string(packet_room) + " bytes: an mbuf holds at most " +
                 std::to_string(UINT16_MAX - RTE_PKTMBUF_HEADROOM) + "; choose a smaller MTU"};
  }
  rte_mempool* pool = make_mempool(name, packets, static_cast<uint16_t>(room));
  if (pool == nullptr) {
    return Error{
        "pool " + name + " of " + std::to_string(packets) + " packets of " + std::to_string(packet_room) +
        " bytes (" + std::to_string((uint64_t{packets} * object_size(packet_room)) >> 20) +
        " MiB) cannot be made: " + rte_strerror(rte_errno) + "; give DPDK more memory or keep fewer packets"};
  }
  std::unique_ptr<MbufPool> made(new MbufPool(pool, packets, packet_room));
  rte_mempool_obj_iter(pool, make_packet, static_cast<PacketPool*>(made.get()));
  return made;
}

MbufPool::~MbufPool() { rte_mempool_free(pool_); }

PacketRef MbufPool::alloc(uint32_t size) {
  if (size > packet_room_) return {};
  rte_mbuf* m = rte_pktmbuf_alloc(pool_);
  if (m == nullptr) return {};
  PacketRef p = to_packet(m);
  p->size = size;
  p->tag = 0;
  return p;
}

// The core's references are one count; every other is a driver's.
bool MbufPool::at_rest(const Packet& p) const { return rte_mbuf_refcnt_read(mbuf_of(&p)) == 1; }

void MbufPool::recycle(Packet* p) noexcept { rte_pktmbuf_free_seg(mbuf_of(p)); }

// The mbuf lies right before the packet; freeing it reads both of its cache lines.
void MbufPool::prefetch(const Packet* p) const {
  const auto* m = reinterpret_cast<const char*>(mbuf_of(p));
  prefetch_line(m);
  prefetch_line(m + RTE_CACHE_LINE_SIZE);
  prefetch_line(p);
}

uint32_t MbufPool::available() const { return rte_mempool_avail_count(pool_); }

}  // namespace matchrdma::io
