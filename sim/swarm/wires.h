#pragma once
// What carries packets and messages between hosts and proxies.
#include "dataplane/flow/message.h"
#include "model/packet_arena.h"
#include "model/span.h"

namespace matchrdma::swarm {

/// What travels between the proxies.
struct Carried {
  PacketRef packet;
  Message message;
  uint32_t session = 0;  ///< a message that was sealed under an older one is lost
};

using Wire = model::PacketSpan;
using Long = model::Span<Carried>;

/// One direction between the proxies. A spoiled message is a lost one, since it is sealed: see is_lost().
Long make_long(const model::SpanConfig& c, uint64_t seed, model::PacketArena& arena);
bool is_lost(const Message& m);

}  // namespace matchrdma::swarm
