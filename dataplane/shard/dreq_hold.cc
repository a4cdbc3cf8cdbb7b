// C8: a DREQ tears the connection down. It passes a proxy only when nothing of that QP is owned or undelivered
// there, or when it has waited for a second: it never discards custody.
#include <algorithm>

#include "dataplane/shard/impl.h"

namespace matchrdma {
namespace {

constexpr size_t kHeldDreqs = 256;
constexpr Duration kHeldFor = Duration::seconds(1);

}  // namespace

bool Shard::Impl::quiet(FlowIndex i) const {
  for (const FlowIndex k : {i, records[i].reverse}) {
    if (k == kNoFlow) continue;
    const FlowRecord& r = records[k];
    if (r.source && (r.source->owns() || !r.source->gap.empty() || !r.source->passing.empty())) return false;
    if (r.destination && (!r.destination->ring.empty() || !r.destination->beyond.empty())) return false;
  }
  return true;
}

void Shard::Impl::hold_dreq(Side side, FlowIndex i, PacketRef packet, const RoleCtx& ctx) {
  if (quiet(i) || held_dreqs.size() == kHeldDreqs) {
    forward(side, Cause::kForward, std::move(packet), ctx);
    return;
  }
  // A copy waits no longer than the first: the host counts its retries.
  Instant until = ctx.now + kHeldFor;
  for (const HeldDreq& h : held_dreqs) {
    if (h.flow == i) until = earlier(until, h.until);
  }
  n.reasons.add(Reason::kDreqHeld);
  held_dreqs.push_back({side, i, std::move(packet), until});
}

void Shard::Impl::release_dreqs(const RoleCtx& ctx) {
  const auto due = [&](HeldDreq& h) {
    if (h.until > ctx.now && table.used(h.flow) && !quiet(h.flow)) return false;
    forward(h.side, Cause::kForward, std::move(h.packet), ctx);
    return true;
  };
  std::erase_if(held_dreqs, due);
}

}  // namespace matchrdma
