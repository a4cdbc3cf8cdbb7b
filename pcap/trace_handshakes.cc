// Pairs that connection management names: both QPNs stand in the REQ and the REP.
#include "pcap/trace_pairing.h"

namespace matchrdma {

bool TracePairing::cm_mad(const CmMad& mad, const Frame& f, uint64_t index, FlowKey& requester,
                          FlowKey& responder) {
  const FlowKey key = FlowKey::of(f, 0);
  if (mad.attribute == CmMad::kReq) cm_requests_.insert_or_assign(mad.local_id, CmEnd{mad, key});
  if (mad.attribute != CmMad::kRep) return false;
  const auto it = cm_requests_.find(mad.remote_id);
  if (it == cm_requests_.end() || it->second.key.src != key.dst || it->second.key.dst != key.src) return false;
  if (!cm_known_.insert({mad.remote_id, mad.local_id}).second) return false;  // the same handshake again
  cm_pairs_.push_back({it->second, {mad, key}, index});
  requester = key;
  requester.dst_qpn = it->second.mad.qpn;
  responder = it->second.key;
  responder.dst_qpn = mad.qpn;
  return true;
}

// The life that began after the packet at `index`; -1: none is in the capture.
int TracePairing::life_after(const IpAddress& from, const IpAddress& to, Qpn to_qp, uint64_t index) const {
  int found = -1;
  const auto [begin, end] = by_qp_.equal_range({from, to, to_qp});
  for (auto it = begin; it != end; ++it) {
    const auto first = [this](int i) { return streams_[static_cast<size_t>(i)].first_index; };
    if (first(it->second) > index && (found < 0 || first(it->second) < first(found))) found = it->second;
  }
  return found;
}

// Two handshakes that name one life contradict each other: who is meant is not known then.
void TracePairing::pair_by_cm() {
  for (size_t i = 0; i < streams_.size(); ++i) {
    const FlowKey& k = streams_[i].key;
    if (streams_[i].transport == Transport::kRc)
      by_qp_.insert({{k.src, k.dst, k.dst_qpn}, static_cast<int>(i)});
  }
  std::vector<int> named(streams_.size());
  std::vector<std::tuple<int, int, uint32_t>> found;
  for (const CmPair& p : cm_pairs_) {
    const int a = life_after(p.request.key.src, p.request.key.dst, p.reply.mad.qpn, p.index);
    const int b = life_after(p.reply.key.src, p.reply.key.dst, p.request.mad.qpn, p.index);
    for (const int i : {a, b})
      if (i >= 0) ++named[static_cast<size_t>(i)];
    if (a >= 0 && b >= 0) found.push_back({a, b, p.request.mad.path_mtu});
  }
  for (const auto& [a, b, mtu] : found) {
    if (named[static_cast<size_t>(a)] > 1 || named[static_cast<size_t>(b)] > 1) continue;
    pair(a, b, "CM handshake");
    for (const int i : {a, b}) streams_[static_cast<size_t>(i)].path_mtu = mtu;
  }
}

}  // namespace matchrdma
