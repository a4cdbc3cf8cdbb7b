#include "dataplane/source/duplicate.h"

#include <algorithm>
#include <cstring>

#include "dataplane/source/acknowledge.h"
#include "dataplane/source/read_fence.h"
#include "dataplane/wire/icrc.h"

namespace matchrdma {
namespace {

enum class Same : uint8_t { kEqual, kPayloadDiffers, kHeaderDiffers };

Same compare(uint32_t header_hash, PayloadPrint payload, const Frame& req) {
  if (request_hash(req) != header_hash) return Same::kHeaderDiffers;
  // The same headers make the same length.
  return same_payload(payload_print(req), payload, req.payload().size()) ? Same::kEqual : Same::kPayloadDiffers;
}

// An owned packet is compared with the kept bytes themselves: equal hashes are no proof when bytes would be
// lost.
Same compare_owned(const Owned& o, const Frame& req) {
  const Same quick = compare(o.header_hash, o.payload, req);
  if (quick != Same::kEqual) return quick;
  const ParseResult kept = parse_frame(o.packet->bytes());
  const Bytes a = kept.frame.payload(), b = req.payload();
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0 ? Same::kEqual
                                                                                : Same::kPayloadDiffers;
}

// At least 8 ACKs above the packet, the first of them more than a second ago: no sender goes back so far (C4).
bool acked_long_ago(const SourceFlow& f, Seq psn, Instant now) {
  if (f.given_count < f.given.size()) return false;
  const SourceFlow::GivenAck& oldest = f.given[f.given_count % f.given.size()];
  return oldest.end > psn && oldest.at + Duration::seconds(1) < now;
}

Accepted pass_behind(SourceFlow& f, PacketRef& packet, Cause cause, Gate& gate, const RoleCtx& ctx) {
  if (!f.passing.push_back({std::move(packet), f.window.end(), cause})) ctx.n->reasons.add(Reason::kNoBuffer);
  gate.offer(f, ctx);
  return Accepted::kTaken;
}

void answer_again(SourceFlow& f, const Frame& req, Reason why, const RoleCtx& ctx) {
  ctx.n->reasons.add(why);
  if (why == Reason::kDuplicateOwned) ++ctx.n->spurious_retransmit;
  if (req.ack_req() || req.info().ends_message()) f.ack_again = true;
}

Accepted on_owned(SourceFlow& f, const Frame& req, uint64_t i, const RoleCtx& ctx) {
  switch (compare_owned(f.window[i], req)) {
    case Same::kEqual:
      answer_again(f, req, Reason::kDuplicateOwned, ctx);
      return Accepted::kTaken;
    case Same::kPayloadDiffers:
      ctx.n->reasons.add(Reason::kPayloadDiffers);
      return Accepted::kTaken;
    case Same::kHeaderDiffers:
      break;
  }
  if (req.info().starts_message()) return Accepted::kNewGeneration;
  ctx.n->reasons.add(Reason::kPayloadDiffers);
  return Accepted::kTaken;
}

const Confirmed* find_confirmed(const SourceFlow& f, Seq psn) {
  uint64_t lo = f.confirmed.begin(), hi = f.confirmed.end();
  while (lo < hi) {
    const uint64_t mid = lo + (hi - lo) / 2;
    if (f.confirmed[mid].psn < psn) {
      lo = mid + 1;
    } else {
      hi = mid;
    }
  }
  return lo < f.confirmed.end() && f.confirmed[lo].psn == psn ? &f.confirmed[lo] : nullptr;
}

Accepted on_confirmed(SourceFlow& f, const Frame& req, Seq psn, PacketRef& packet, Gate& gate,
                      const RoleCtx& ctx) {
  if (const Confirmed* c = find_confirmed(f, psn)) {
    switch (compare(c->header_hash, c->payload, req)) {
      case Same::kEqual:
        answer_again(f, req, Reason::kDuplicateConfirmed, ctx);
        return Accepted::kTaken;
      case Same::kHeaderDiffers:
        if (req.info().starts_message()) return Accepted::kNewGeneration;
        break;
      case Same::kPayloadDiffers:
        return pass_behind(f, packet, Cause::kDuplicateForwarded, gate, ctx);
    }
  }
  // Unknown and old: of a QP that was inferred it may be another life, with another partner (C6).
  if (!f.owns() && f.inferred) return Accepted::kNewGeneration;
  if (!f.owns()) return pass_behind(f, packet, Cause::kDuplicateForwarded, gate, ctx);
  ctx.n->reasons.add(Reason::kDuplicateSilence);
  return Accepted::kTaken;
}

}  // namespace

Accepted on_duplicate(SourceFlow& f, const Frame& req, Seq psn, PacketRef& packet, Gate& gate,
                      const RoleCtx& ctx) {
  if (acked_long_ago(f, psn, ctx.now)) return Accepted::kNewGeneration;
  // The sender came back to what a gap made it miss.
  if (f.gap_nak_sent()) {
    f.gap_nak = SourceFlow::GapNak::kAnswered;
  } else if (!f.gap.empty()) {
    f.gap_since = ctx.now;
  }
  if (req.info().read_class) {
    switch (match_read(f, req, psn, psn_count(req, f.path_mtu))) {
      case ReadCopy::kDifferent:
        return Accepted::kNewGeneration;
      case ReadCopy::kRetry:
      case ReadCopy::kUnknown:
        return pass_behind(f, packet, Cause::kReadRetry, gate, ctx);
    }
  }
  if (psn >= f.confirmed_end) {
    const uint64_t i = f.find(psn);
    if (i < f.window.end()) {
      // A SEND or WRITE inside what is remembered as a READ's range belongs to another life.
      if (f.window[i].psn != psn) return Accepted::kNewGeneration;
      return on_owned(f, req, i, ctx);
    }
  }
  return on_confirmed(f, req, psn, packet, gate, ctx);
}

}  // namespace matchrdma
