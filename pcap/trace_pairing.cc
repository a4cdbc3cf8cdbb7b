#include "pcap/trace_pairing.h"

#include <algorithm>
#include <tuple>

#include "dataplane/wire/source_port.h"

namespace matchrdma {
namespace {

constexpr Seq kMaxBehind = 1 << 22;
constexpr uint32_t kLegalMtu[] = {256, 512, 1024, 2048, 4096};
/// What only ONLY packets told of is at least this (PROTOCOL 3: never learned from ONLY, so take the usual
/// one).
constexpr uint32_t kUsualMtu = 1024;

uint32_t legal_mtu(uint32_t payload) {
  for (const uint32_t mtu : kLegalMtu)
    if (payload <= mtu) return mtu;
  return kLegalMtu[4];
}

}  // namespace

FlowKey TracePairing::direction_key(const FlowKey& k, bool reversed) {
  FlowKey d = k;
  d.dst_qpn = Qpn{0};
  if (reversed) std::swap(d.src, d.dst);
  return d;
}

TracePairing::Direction& TracePairing::direction(const FlowKey& k) {
  std::vector<int>& places = direction_index_[k.hash()];
  for (const int i : places)
    if (directions_[static_cast<size_t>(i)].first == k) return directions_[static_cast<size_t>(i)].second;
  places.push_back(static_cast<int>(directions_.size()));
  directions_.push_back({k, {}});
  return directions_.back().second;
}

TracePairing::Side& TracePairing::side(int stream) {
  if (sides_.size() < streams_.size()) sides_.resize(streams_.size());
  return sides_[static_cast<size_t>(stream)];
}

void TracePairing::request(int stream, const Frame& f, Instant time) {
  Side& s = side(stream);
  TraceStream& t = streams_[static_cast<size_t>(stream)];
  s.track.request(t, f, time);
  if (!s.in_direction && t.transport == Transport::kRc) {
    s.in_direction = true;
    direction(direction_key(t.key, false)).started.push_back(stream);
  }
}

// A stream that begins after these answers were seen cannot have caused them: it starts without their evidence.
void TracePairing::sync_edges(int stream) {
  Side& s = side(stream);
  const auto& started = direction(direction_key(streams_[static_cast<size_t>(stream)].key, true)).started;
  while (s.synced < started.size()) {
    if (side(started[s.synced]).ended) {
      ++s.synced;
      continue;
    }
    if (edges_ == kMaxEdges) {
      s.overflow = true;
      return;
    }
    s.edges.push_back({.requests = started[s.synced++]});
    ++edges_;
  }
}

void TracePairing::answer(int stream, const Frame& f) {
  TraceStream& t = streams_[static_cast<size_t>(stream)];
  note_port(t, t.answer_port, f);
  if (f.info().first || f.info().middle) t.full_payload = std::max(t.full_payload, f.payload_length());
  t.largest_payload = std::max(t.largest_payload, f.payload_length());
  Side& s = side(stream);
  if (s.answers == 0) {
    direction(direction_key(t.key, false)).answering.push_back(stream);
    s.lowest_answer = s.highest_answer = f.psn().v;
  }
  const Seq psn = unwrap24(f.psn().v, s.highest_answer);
  s.lowest_answer = std::min(s.lowest_answer, psn);
  s.highest_answer = std::max(s.highest_answer, psn);
  constexpr uint8_t kNoCredits = 31;
  if (f.opcode() == op::kRcAck && (f.aeth_syndrome() & 0x60) == kAethAck &&
      (f.aeth_syndrome() & 0x1f) != kNoCredits)
    s.credits = true;
  sync_edges(stream);
  const bool all = ++s.answers <= kWeighedByAll || s.edges.size() <= kWeighedInTurn;
  if (all) s.next_edge = 0;
  for (size_t left = all ? s.edges.size() : kWeighedInTurn; left > 0 && !s.edges.empty(); --left) {
    if (s.next_edge >= s.edges.size()) s.next_edge = 0;
    Edge& e = s.edges[s.next_edge];
    weigh(e, f);
    if (e.dead()) {
      e = s.edges.back();
      s.edges.pop_back();
      --edges_;
    } else {
      ++s.next_edge;
    }
  }
}

void TracePairing::weigh(Edge& e, const Frame& f) {
  if (side(e.requests).ended) return;
  const TraceStream& t = streams_[static_cast<size_t>(e.requests)];
  const Seq seq = unwrap24(f.psn().v, t.end - 1);
  const bool plain = f.opcode() == op::kRcAck;
  const bool nak = plain && f.aeth_syndrome() == kNakSequence;  // names the PSN it waits for, which may be new
  const Seq limit = std::max(t.reach, t.end) + (nak ? 1 : 0);
  if (seq >= limit || t.end - seq > kMaxBehind) {
    ++e.against;
    return;
  }
  if (seq < t.first) return;  // sent before the capture began: says nothing
  ++e.fits;
  note_lives(e, seq, plain && (f.aeth_syndrome() & 0x60) == kAethAck);
  if (f.info().aeth && !(plain && (f.aeth_syndrome() & 0x60) != kAethAck))
    weigh_message_count(e, f, seq, plain);
}

void TracePairing::note_lives(Edge& e, Seq seq, bool positive_ack) {
  const RequestTrack::StepBack& back = side(e.requests).track.step_back();
  if (back.count != e.steps_back && back.to <= e.acked) e.reused = true;
  e.steps_back = back.count;
  if (positive_ack) e.acked = std::max(e.acked, seq);
}

void TracePairing::weigh_message_count(Edge& e, const Frame& f, Seq seq, bool ack) {
  RequestTrack& track = side(e.requests).track;
  const auto messages = track.messages_at(seq);
  if (!messages) return;
  const auto offset = static_cast<uint32_t>(f.aeth_msn().v - *messages) & Psn::kMask;
  // READ responses of a pipelined sender may carry the count of later READs too, so an ACK's word is better and
  // among responses the smallest counts.
  if (!e.msn_known || (ack && !e.msn_from_ack)) {
    e.msn_known = true;
    e.msn_from_ack = ack;
    e.msn_offset = offset;
  }
  if (offset == e.msn_offset) {
    if (track.is_point(seq)) ++e.strong;
  } else if (ack) {
    // A re-ACK or a coalesced one may be some messages ahead; far off or behind it is another flow's.
    // Another life of the QP counts from 0 again.
    const bool reused = e.reused || streams_[static_cast<size_t>(e.requests)].reused;
    if (!reused && ((offset - e.msn_offset) & Psn::kMask) > 4096) ++e.against;
  } else if (((e.msn_offset - offset) & Psn::kMask) < 4096 && !e.msn_from_ack) {
    e.msn_offset = offset;
  }
}

const TracePairing::Edge* TracePairing::edge(int answers, int requests) const {
  const std::vector<Edge>& edges = sides_[static_cast<size_t>(answers)].edges;
  const auto it = std::lower_bound(edges.begin(), edges.end(), requests,
                                   [](const Edge& e, int stream) { return e.requests < stream; });
  return it == edges.end() || it->requests != requests ? nullptr : &*it;
}

int TracePairing::port_score(const TraceStream& a, const TraceStream& b) const {
  const auto port_a = a.request_port ? a.request_port : a.answer_port;
  const auto port_b = b.answer_port ? b.answer_port : b.request_port;
  if (!port_a || !port_b) return 0;
  // `a` goes to QP a.key.dst_qpn and comes from QP b.key.dst_qpn; some NICs send from their own QPN as port.
  if (*port_a == (b.key.dst_qpn.v & 0xffff) && *port_b == (a.key.dst_qpn.v & 0xffff)) return 3;
  if (*port_a != *port_b) return 0;
  return *port_a == hashed_source_port(a.key.dst_qpn, b.key.dst_qpn) ? 3 : 1;
}

bool TracePairing::Candidate::better_than(const Candidate& o) const {
  if (o.other < 0) return true;
  return std::tie(port_score, strong, fits) > std::tie(o.port_score, o.strong, o.fits);
}

bool TracePairing::candidate(int a, int b, Candidate& out) const {
  out = {.other = b};
  for (const Edge* e : {edge(b, a), edge(a, b)}) {
    if (e == nullptr) continue;
    out.fits += e->fits;
    out.strong += e->strong;
    if (e->against > e->fits / 8) return false;
  }
  out.port_score = port_score(streams_[static_cast<size_t>(a)], streams_[static_cast<size_t>(b)]);
  return out.fits > 0;
}

/// The other stream that fits best; -1: none, -2: two fit equally well.
int TracePairing::find_best(int a) const {
  Candidate best, second;
  const auto consider = [&](int b) {
    Candidate c;
    if (streams_[static_cast<size_t>(b)].partner >= 0 || best.other == b || !candidate(a, b, c)) return;
    if (c.better_than(best)) {
      second = best;
      best = c;
    } else if (c.better_than(second)) {
      second = c;
    }
  };
  for (const Edge& e : sides_[static_cast<size_t>(a)].edges) consider(e.requests);
  for (const int b : sides_[static_cast<size_t>(a)].answered_by) consider(b);
  if (best.other < 0) return -1;
  if (second.other < 0 || best.port_score > second.port_score) return best.other;
  // Same ports: the right one keeps step where the other only happens to overlap.
  return best.strong >= 2 * second.strong + 4 ? best.other : -2;
}

void TracePairing::pair(int a, int b, const char* evidence) {
  for (const auto& [x, y] : {std::pair{a, b}, std::pair{b, a}}) {
    streams_[static_cast<size_t>(x)].partner = y;
    streams_[static_cast<size_t>(x)].evidence = evidence;
  }
}

void TracePairing::finish_pair(TraceStream& requests, int answers) {
  const Edge* e = edge(answers, static_cast<int>(&requests - streams_.data()));
  if (e != nullptr && e->msn_known) requests.msn_before = e->msn_offset;
  if (e != nullptr && e->reused) requests.reused = true;
  requests.credits = side(answers).credits;
  const TraceStream& other = streams_[static_cast<size_t>(answers)];
  const uint32_t full = std::max(requests.full_payload, other.full_payload);
  if (full > 0) {
    requests.path_mtu = legal_mtu(full);
  } else if (requests.path_mtu == 0) {
    requests.path_mtu = legal_mtu(std::max({kUsualMtu, requests.largest_payload, other.largest_payload}));
  }
}

void TracePairing::index_edges() {
  for (size_t i = 0; i < sides_.size(); ++i) {
    std::vector<Edge>& edges = sides_[i].edges;
    std::sort(edges.begin(), edges.end(), [](const Edge& x, const Edge& y) { return x.requests < y.requests; });
    for (const Edge& e : edges)
      sides_[static_cast<size_t>(e.requests)].answered_by.push_back(static_cast<int>(i));
  }
}

void TracePairing::resolve(bool whole) {
  sides_.resize(streams_.size());
  index_edges();
  pair_by_cm();
  for (TraceStream& s : streams_) s.sure = whole && s.partner >= 0;
  std::vector<int> best(streams_.size(), -1);
  for (size_t i = 0; i < streams_.size(); ++i)
    if (streams_[i].transport == Transport::kRc && streams_[i].partner < 0)
      best[i] = find_best(static_cast<int>(i));
  for (size_t i = 0; i < streams_.size(); ++i) {
    TraceStream& s = streams_[i];
    if (s.transport != Transport::kRc || s.partner >= 0) continue;
    const int b = best[i];
    if (b >= 0 && best[static_cast<size_t>(b)] == static_cast<int>(i)) {
      const char* why = whole ? doubt(static_cast<int>(i), b) : "packets are cut short: nothing can be sure";
      pair(static_cast<int>(i), b, why == nullptr ? "PSNs, message counts and ports" : why);
      s.sure = streams_[static_cast<size_t>(b)].sure = why == nullptr;
    } else {
      s.evidence = sides_[i].overflow ? "too many queue pairs to tell apart"
                   : b == -1          ? "no answers seen that fit"
                                      : "ambiguous: several queue pairs fit";
    }
  }
  for (TraceStream& s : streams_) {
    if (s.partner >= 0) {
      finish_pair(s, s.partner);
    } else if (s.full_payload > 0 && s.transport != Transport::kUd) {
      s.path_mtu = legal_mtu(s.full_payload);
    }
  }
  for (TraceStream& s : streams_)
    if (s.sure && (s.reused || streams_[static_cast<size_t>(s.partner)].reused))
      s.evidence = "used anew, so left transparent";
}

}  // namespace matchrdma
