#include "dataplane/flow/role_ctx.h"

#include <algorithm>
#include <cstring>

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
  const auto mix = [](uint64_t h, uint64_t w) {
    h = (h ^ w) * 0x9e3779b97f4a7c15ull;
    return h ^ (h >> 29);
  };
  uint64_t h =
      mix(f.opcode(), (uint64_t{f.icrc_offset()} << 16) | (uint64_t{f.pad_count()} << 8) | f.solicited());
  // Extension headers are whole words of four bytes.
  const Bytes ext = f.extension_headers();
  for (size_t at = 0; at < ext.size(); at += 4) h = mix(h, load_be32(ext.data() + at));
  return static_cast<uint32_t>(h >> 32);
}

}  // namespace matchrdma
