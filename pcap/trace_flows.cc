#include "pcap/trace_flows.h"

#include "dataplane/wire/icrc.h"
#include "pcap/trace_pairing.h"

namespace matchrdma {
namespace {

bool has_stream(const ParseResult& p) {
  if (p.kind != ParseKind::kRoce || p.reason != Reason::kNone) return false;
  const Transport t = p.frame.info().transport;
  return t == Transport::kRc || t == Transport::kUc || t == Transport::kUd;
}

Registration::End end_of(const TraceStream& requests, const TraceStream& answers) {
  Registration::End e;
  e.ip = requests.key.src;
  e.qpn = answers.key.dst_qpn;
  e.has_start = requests.started;
  e.start = wire_psn(requests.first);
  e.msn = requests.msn_before;
  return e;
}

}  // namespace

int TraceFlows::stream_of(const ParseResult& p) const {
  return has_stream(p) ? stream_of(FlowKey::of(p.frame, 0)) : -1;
}

int TraceFlows::stream_of(const FlowKey& key) const {
  const auto it = index_.find(key);
  return it == index_.end() ? -1 : it->second;
}

int TraceFlows::stream_at(const ParseResult& p, uint64_t index) const {
  int i = stream_of(p);
  while (i >= 0 && streams_[static_cast<size_t>(i)].first_index > index) {
    const int before = streams_[static_cast<size_t>(i)].previous_life;
    if (before < 0) break;
    i = before;
  }
  return i;
}

int TraceFlows::new_stream(const FlowKey& key, Transport transport, uint64_t index) {
  TraceStream s;
  s.key = key;
  s.transport = transport;
  s.first_index = index;
  streams_.push_back(s);
  lives_.emplace_back();
  return static_cast<int>(streams_.size()) - 1;
}

int TraceFlows::stream_for(const Frame& f, uint64_t index, Instant time, TracePairing& pairing) {
  const FlowKey key = FlowKey::of(f, 0);
  const auto known = index_.find(key);
  if (known == index_.end()) {
    reborn_.erase(key);
    return index_.emplace(key, new_stream(key, f.info().transport, index)).first->second;
  }
  const int old = known->second;
  const TraceStream& before = streams_[static_cast<size_t>(old)];
  if (before.transport != Transport::kRc || before.life + 1 == kMostLives) return old;
  if (reborn_.erase(key) == 0 && !lives_[static_cast<size_t>(old)].is_another(before, f, time)) return old;
  const int life = before.life + 1;
  const int fresh = known->second = new_stream(key, before.transport, index);
  for (const int i : {old, fresh}) streams_[static_cast<size_t>(i)].reused = true;
  streams_[static_cast<size_t>(fresh)].life = life;
  streams_[static_cast<size_t>(fresh)].previous_life = old;
  pairing.ended(old);
  return fresh;
}

// What one sound packet tells.
void TraceFlows::learn(const CapturedPacket& packet, const Frame& f, Instant time, TracePairing& pairing) {
  const int stream = stream_for(f, packet.index, time, pairing);
  const auto at = static_cast<size_t>(stream);
  if (f.info().deth) streams_[at].source_qpn = Qpn{load_be24(f.data() + f.ext_offset() + 5)};
  if (f.info().request) {
    pairing.request(stream, f, time);
  } else {
    pairing.answer(stream, f);
  }
  if (f.info().transport == Transport::kRc) lives_[at].note(streams_[at], f, time);
  const auto mad = parse_cm_mad(f);
  FlowKey requester, responder;
  if (!mad || !pairing.cm_mad(*mad, f, packet.index, requester, responder)) return;
  for (const FlowKey& key : {requester, responder})
    if (index_.contains(key)) reborn_.insert(key);
}

Result<TraceFlows> TraceFlows::scan(CaptureReader reader, std::optional<Cidr> site_a,
                                    const ProgressFn& progress) {
  TraceFlows t(site_a);
  TraceCounts& n = t.counts_;
  n.file = reader.name();
  TracePairing pairing(t.streams_);
  CaptureClock clock;
  CapturedPacket packet;
  while (reader.next(packet) == ReadStatus::kPacket) {
    if (progress) progress(reader.bytes_read());
    ++n.packets;
    t.bad_icrc_.push_back(false);
    const auto time = clock.steady(packet);
    if (!time) return Error{n.file + ": " + time.error()};
    n.first = earlier(n.first, *time);
    const ParseResult p = parse_frame(packet.data);
    t.sites_.learn(packet.data, p);
    if (p.kind == ParseKind::kNotRoce) ++n.not_roce;
    if (p.kind == ParseKind::kMalformed) ++(p.reason == Reason::kTruncated ? n.truncated : n.malformed);
    if (p.kind != ParseKind::kRoce) continue;
    ++n.roce;
    ++n.opcodes[p.frame.opcode()];
    if (!icrc_ok(p.frame)) {
      ++n.icrc_bad;
      t.bad_icrc_.back() = true;
      continue;  // no host acts on it
    }
    if (has_stream(p)) t.learn(packet, p.frame, *time, pairing);
  }
  if (reader.status() == ReadStatus::kError) return Error{reader.message()};
  n.incomplete = reader.message();
  t.sites_.resolve();
  pairing.resolve(n.truncated == 0);
  t.lives_ = {};
  return t;
}

// Nobody tells the proxies when a life ends and where the next begins, and a recording does not send again what
// they refuse until they have found out: such a QP is left transparent.
bool TraceFlows::can_register(size_t stream) const {
  const TraceStream& s = streams_[stream];
  return s.sure && !s.reused && !streams_[static_cast<size_t>(s.partner)].reused;
}

std::vector<Registration> TraceFlows::registrations(Completion completion) const {
  std::vector<Registration> all;
  for (size_t i = 0; i < streams_.size(); ++i) {
    const TraceStream& s = streams_[i];
    if (s.partner < static_cast<int>(i) || !can_register(i)) continue;  // or told by its partner already
    const TraceStream& p = streams_[static_cast<size_t>(s.partner)];
    Registration r;
    r.a = end_of(s, p);
    r.b = end_of(p, s);
    r.vlan_outer = s.key.vlan_outer;
    r.vlan_inner = s.key.vlan_inner;
    r.path_mtu = s.path_mtu > p.path_mtu ? s.path_mtu : p.path_mtu;
    r.credits = s.credits || p.credits;
    r.completion = completion;
    all.push_back(r);
  }
  return all;
}

}  // namespace matchrdma
