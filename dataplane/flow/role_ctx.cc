#include "dataplane/flow/role_ctx.h"

#include <algorithm>

#include "dataplane/wire/icrc.h"

namespace matchrdma {

bool make_writable(PacketRef& p, PacketPool& pool) {
  if (p.unique() && p->pool->at_rest(*p)) return true;
  PacketRef copy = pool.alloc(p->size);
  if (!copy) return false;
  std::memcpy(copy->data, p->data, p->size);
  copy->tag = p->tag;
  p = std::move(copy);
  return true;
}

uint32_t psn_count(const Frame& f, uint32_t path_mtu) {
  if (f.opcode() != op::kRcReadReq) return 1;
  const uint64_t packets = (uint64_t{f.reth_length()} + path_mtu - 1) / path_mtu;
  return static_cast<uint32_t>(std::max<uint64_t>(packets, 1));
}

uint32_t request_hash(const Frame& f) {
  const uint8_t head[5] = {f.opcode(), static_cast<uint8_t>(f.icrc_offset() >> 8),
                           static_cast<uint8_t>(f.icrc_offset()), f.pad_count(),
                           f.solicited() ? uint8_t{1} : uint8_t{0}};
  return crc32(crc32(0, Bytes(head)), f.extension_headers());
}

}  // namespace matchrdma
