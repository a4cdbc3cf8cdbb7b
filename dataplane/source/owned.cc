#include "dataplane/source/owned.h"

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

}  // namespace

Owned make_owned(SourceFlow& f, const Frame& req, Seq psn, uint32_t psns, PacketRef packet,
                 const RoleCtx& ctx) {
  const OpcodeInfo& i = req.info();
  note_message_size(f, req, ctx);
  Owned o;
  o.psn = psn;
  o.psns = psns;
  o.accepted = ctx.now;
  o.header_hash = request_hash(req);
  o.payload = payload_print(req);
  o.packet = std::move(packet);
  if (i.ends_message() || i.read_class) {
    ++f.messages;
    o.flags |= i.read_class ? Owned::kReadClass : Owned::kEnds;
  }
  if (req.ack_req()) o.flags |= Owned::kAckReq;
  if (f.message_small) o.flags |= Owned::kSmall;
  o.messages_end = f.messages;
  return o;
}

}  // namespace matchrdma
