#pragma once
// Between the driver's mbuf and the core's Packet. Inside dataplane/io only.
#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include <utility>

#include "dataplane/base/packet.h"

namespace matchrdma::io {

/// The Packet lies in the private area, right behind the mbuf.
inline Packet* packet_of(rte_mbuf* m) { return static_cast<Packet*>(rte_mbuf_to_priv(m)); }
inline rte_mbuf* mbuf_of(Packet* p) { return static_cast<rte_mbuf*>(static_cast<void*>(p)) - 1; }
inline const rte_mbuf* mbuf_of(const Packet* p) {
  return static_cast<const rte_mbuf*>(static_cast<const void*>(p)) - 1;
}

/// Takes over one count of an mbuf that nobody else holds.
inline PacketRef to_packet(rte_mbuf* m) {
  Packet* p = packet_of(m);
  p->data = rte_pktmbuf_mtod(m, uint8_t*);
  p->size = rte_pktmbuf_data_len(m);
  p->capacity = static_cast<uint32_t>(m->buf_len) - m->data_off;
  p->refs = 1;
  return PacketRef::adopt(p);
}

/// Turns one reference into one count for a driver. The last reference is handed over with its count; while
/// others remain, the mbuf is counted once more and stays theirs.
inline rte_mbuf* to_mbuf(PacketRef ref) {
  Packet* p = ref.get();
  rte_mbuf* m = mbuf_of(p);
  m->data_off = static_cast<uint16_t>(p->data - static_cast<uint8_t*>(m->buf_addr));
  m->data_len = static_cast<uint16_t>(p->size);
  m->pkt_len = p->size;
  if (!ref.unique()) {
    rte_mbuf_refcnt_update(m, 1);
    return m;
  }
  // Without this release the PacketRef would give the mbuf back to its pool.
  static_cast<void>(ref.release());
  p->refs = 0;
  return m;
}

}  // namespace matchrdma::io
