#include "pcap/make/tap.h"

#include "dataplane/wire/cm_mad.h"

namespace matchrdma {
namespace {

constexpr uint8_t kNotEct = 0;  // RFC 3168 5

uint64_t end_key(uint32_t host_pair, int side, Qpn qpn) {
  return (uint64_t{host_pair} << 32) | (uint64_t{static_cast<uint32_t>(side)} << 24) | qpn.v;
}

}  // namespace

Tap::Tap(const TraceRecipe& r, PacketSink& sink, TraceTruth& truth, Instant begin)
    : r_(r), sink_(sink), truth_(truth), joins_(begin + r.join_after), prng_(r.seed ^ 0x7a9) {}

void Tap::watch(size_t pair, uint32_t cm_id_a, uint32_t cm_id_b) {
  const TracePair& p = truth_.pairs[pair];
  by_qpn_[end_key(p.host_pair, 0, p.a.qpn)] = pair;
  by_qpn_[end_key(p.host_pair, 1, p.b.qpn)] = pair;
  by_cm_id_[cm_id_a] = by_cm_id_[cm_id_b] = pair;
}

TraceEnd* Tap::sender_of(const Frame& f, uint32_t host_pair, int side) {
  if (const auto mad = parse_cm_mad(f)) {
    const auto it = by_cm_id_.find(mad->local_id);
    return it == by_cm_id_.end() ? nullptr : &truth_.pairs[it->second].end(side);
  }
  const auto it = by_qpn_.find(end_key(host_pair, 1 - side, f.dest_qp()));
  return it == by_qpn_.end() ? nullptr : &truth_.pairs[it->second].end(side);
}

void Tap::count(const Frame& f, TraceEnd& e, Instant now) {
  if (f.info().transport == Transport::kUd) return;
  ++e.packets;
  e.first_seen = earlier(e.first_seen, now);
  if (!f.info().request) return;
  ++e.requests;
  if (!e.first_request) e.first_request = f.psn();
}

void Tap::see(uint32_t host_pair, int side, MutableBytes frame, Instant now) {
  const ParseResult parsed = parse_frame(frame);
  MRDMA_CHECK(parsed.kind == ParseKind::kRoce);
  const Frame& f = parsed.frame;
  const bool data = f.info().transport == Transport::kRc && f.payload_length() > 0;
  if (r_.ecn > 0 && data && f.ecn() != kNotEct && prng_.chance(r_.ecn)) {
    rewrite_ecn(f, frame, kCe);
    ++truth_.marked;
  }
  TraceEnd* sender = sender_of(f, host_pair, side);
  MRDMA_CHECK(sender != nullptr);
  if (now < joins_ || !sender->visible) {
    ++truth_.hidden;
    return;
  }
  count(f, *sender, now);
  if (f.info().transport == Transport::kCnp) ++truth_.cnps;
  if (truth_.packets++ == 0) truth_.first = now;
  truth_.last = now;
  truth_.bytes += frame.size();
  if (!error_.empty()) return;
  if (const Result<void> r = sink_.packet(now, frame); !r) error_ = r.error();
}

}  // namespace matchrdma
