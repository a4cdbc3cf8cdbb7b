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

int TraceFlows::stream_for(const Frame& f) {
  const auto [it, fresh] = index_.try_emplace(FlowKey::of(f, 0), static_cast<int>(streams_.size()));
  if (fresh) {
    TraceStream s;
    s.key = it->first;
    s.transport = f.info().transport;
    streams_.push_back(s);
  }
  return it->second;
}

Result<TraceFlows> TraceFlows::scan(CaptureReader reader, std::optional<Cidr> site_a,
                                    const ProgressFn& progress) {
  TraceFlows t(site_a);
  TraceCounts& n = t.counts_;
  n.file = reader.name();
  TracePairing pairing(t.streams_);
  CapturedPacket packet;
  while (reader.next(packet) == ReadStatus::kPacket) {
    if (progress) progress(reader.bytes_read());
    ++n.packets;
    t.bad_icrc_.push_back(false);
    n.first = earlier(n.first, packet.time);
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
    if (!has_stream(p)) continue;
    const int stream = t.stream_for(p.frame);
    if (p.frame.info().deth)
      t.streams_[static_cast<size_t>(stream)].source_qpn =
          Qpn{load_be24(p.frame.data() + p.frame.ext_offset() + 5)};
    if (p.frame.info().request) {
      pairing.request(stream, p.frame, packet.time);
    } else {
      pairing.answer(stream, p.frame);
    }
    if (const auto mad = parse_cm_mad(p.frame)) pairing.cm_mad(*mad, p.frame);
  }
  if (reader.status() == ReadStatus::kError) return Error{reader.message()};
  n.incomplete = reader.message();
  t.sites_.resolve();
  pairing.resolve();
  return t;
}

// Nobody tells the proxies when a life ends and where the next begins, and a recording does not send again what
// they refuse until they have found out: such a QP is left transparent.
bool TraceFlows::can_register(size_t stream) const {
  const TraceStream& s = streams_[stream];
  return s.partner >= 0 && !s.reused && !streams_[static_cast<size_t>(s.partner)].reused;
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
