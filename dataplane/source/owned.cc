#include "dataplane/source/owned.h"

#include <algorithm>
#include <utility>

namespace matchrdma {
namespace {

// Size of the message a packet belongs to, where the wire tells it: RETH length, or the payload of an ONLY.
void note_message_size(SourceFlow& f, const Frame& req, const RoleCtx& ctx) {
  const OpcodeInfo& i = req.info();
  if (i.read_class) {
    f.message_small = true;
  } else if (i.first || i.only) {
    const uint32_t bytes = i.reth ? req.reth_length() : (i.only ? req.payload_length() : UINT32_MAX);
    f.message_small = bytes <= ctx.tuning->small_message;
  }
}

void count_taken(uint32_t bytes, const RoleCtx& ctx) {
  ctx.n->custody_bytes += bytes;
  ++ctx.n->custody_packets;
  ctx.n->custody_peak = std::max(ctx.n->custody_peak, ctx.n->custody_bytes);
}

}  // namespace

Owned* own(SourceFlow& f, const Frame& req, uint32_t psns, PacketRef& packet, const RoleCtx& ctx) {
  const uint32_t bytes = packet->size;
  Owned* const place = f.window.extend(std::move(packet));
  if (place == nullptr) return nullptr;
  Owned& o = *place;
  const OpcodeInfo& i = req.info();
  note_message_size(f, req, ctx);
  o.psn = f.epsn;
  o.psns = psns;
  o.accepted = ctx.now;
  o.header_hash = request_hash(req);
  o.payload = payload_print(req);
  if (i.ends_message() || i.read_class) {
    ++f.messages;
    o.flags |= i.read_class ? Owned::kReadClass : Owned::kEnds;
  }
  if (req.ack_req()) o.flags |= Owned::kAckReq;
  if (f.message_small) o.flags |= Owned::kSmall;
  o.messages_end = f.messages;
  f.epsn += psns;
  f.owned_bytes += bytes;
  count_taken(bytes, ctx);
  return place;
}

}  // namespace matchrdma
