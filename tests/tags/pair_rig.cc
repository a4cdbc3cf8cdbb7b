#include "tests/tags/pair_rig.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

namespace matchrdma::tags {
namespace {

IpAddress ip(uint8_t last) {
  const uint8_t b[4] = {10, 9, 0, last};
  return IpAddress::v4(b);
}

ShardConfig config(const RigOptions& o, uint32_t instance) {
  ShardConfig c = o.config;
  c.limits.max_flows = c.limits.max_owning_flows = o.max_flows;
  c.limits.max_groups = 64;
  c.instance = instance;
  return c;
}

Bytes payload(uint8_t fill) {
  static const auto kBlocks = [] {
    std::array<std::array<uint8_t, 64>, 256> all{};
    for (size_t i = 0; i < all.size(); ++i) all[i].fill(static_cast<uint8_t>(i));
    return all;
  }();
  return kBlocks[fill];
}

void collect(Proxy& p) {
  for (OutItem& item : p.out.items()) {
    if (!item.packet && std::holds_alternative<ProbeAck>(*item.message)) continue;
    Queue& q = item.packet && item.side == Side::kLan ? p.lan : p.wan;
    q.push_back({item.cause, item.priority, std::move(item.packet),
                 item.message == nullptr ? Message{} : std::move(*item.message)});
  }
  p.journal.insert(p.journal.end(), p.out.journal().begin(), p.out.journal().end());
  p.out.clear();
}

}  // namespace

RigOptions& RigOptions::throttled() {
  config.tuning.budget = Rate{1'000'000};
  config.tuning.budget_burst_bytes = 1;
  return *this;
}

PairRig::PairRig(const RigOptions& o) : PairRig(o, std::make_unique<model::PacketArena>()) {}

PairRig::PairRig(const RigOptions& o, std::unique_ptr<model::PacketArena> arena)
    : arena_(std::move(arena)), a(config(o, 1), *arena_), b(config(o, 2), *arena_), o_(o) {}

Registration PairRig::registration(const Ends& e) const {
  Registration r;
  r.a = {ip(1), e.a, o_.fresh, Psn{e.start_a}, 0};
  r.b = {ip(2), e.b, o_.fresh, Psn{e.start_b}, 0};
  r.vlan_outer = e.vlan;
  r.path_mtu = o_.path_mtu;
  r.completion = o_.completion;
  r.credits = o_.credits;
  return r;
}

bool PairRig::register_at_a(const Registration& r) {
  const bool ok = a.shard.register_qp(r, true, now_, a.out) == Registered::kYes;
  collect(a);
  return ok;
}

void PairRig::unregister_at_a(const Registration& r) {
  a.shard.unregister_qp(r, true, now_, a.out);
  collect(a);
}

void PairRig::connect(const Ends& e) {
  const Registration r = registration(e);
  MRDMA_CHECK(register_at_a(r));
  run(Duration::millis(1));
  MRDMA_CHECK(a.shard.registered(r) && b.shard.registered(r));
  for (Proxy* p : {&a, &b}) {
    p->lan.clear();
    p->wan.clear();
  }
}

PacketRef PairRig::build(const RoceSpec& spec, const Ends& e, bool from_a, uint8_t ecn) {
  L2L3 l;
  l.mac_dst = {2, 0, 0, 0, 0, static_cast<uint8_t>(from_a ? 2 : 1)};
  l.mac_src = {2, 0, 0, 0, 0, static_cast<uint8_t>(from_a ? 1 : 2)};
  l.src = ip(from_a ? 1 : 2);
  l.dst = ip(from_a ? 2 : 1);
  l.udp_source_port = e.port;
  l.traffic_class = ecn;
  if (e.vlan != 0) {
    l.vlan_tags = 1;
    l.vlan_tci[0] = e.vlan;
  }
  RoceSpec r = spec;
  if (r.dest_qp.v == 0) r.dest_qp = from_a ? e.b : e.a;
  return build_roce(l, r, *arena_);
}

void PairRig::give(Proxy& p, RxItem* item, const Message* m) {
  p.shard.run_once({item, item != nullptr ? size_t{1} : 0}, {m, m != nullptr ? size_t{1} : 0}, now_, p.out);
  collect(p);
}

void PairRig::from_a(const RoceSpec& r, const Ends& e, uint8_t ecn) {
  RxItem item{Side::kLan, build(r, e, true, ecn)};
  give(a, &item, nullptr);
}
void PairRig::from_b(const RoceSpec& r, const Ends& e) {
  RxItem item{Side::kLan, build(r, e, false, 2)};
  give(b, &item, nullptr);
}
void PairRig::to_a_wan(const RoceSpec& r, const Ends& e) {
  RxItem item{Side::kWan, build(r, e, false, 2)};
  give(a, &item, nullptr);
}
void PairRig::to_b_wan(const RoceSpec& r, const Ends& e) {
  RxItem item{Side::kWan, build(r, e, true, 2)};
  give(b, &item, nullptr);
}
void PairRig::raw(Proxy& p, Side side, Bytes frame) {
  RxItem item{side, arena_->copy(frame)};
  give(p, &item, nullptr);
}
void PairRig::say(Proxy& to, const Message& m) { give(to, nullptr, &m); }

void PairRig::drain(Proxy& p, bool on) {
  p.shard.drain(on, now_, p.out);
  collect(p);
}

void PairRig::read_journal(Proxy& p) {
  std::map<uint32_t, JournalRecord> slots;
  for (const JournalRecord& r : std::exchange(p.journal, {})) slots[r.slot] = r;
  for (const auto& [slot, r] : slots) MRDMA_CHECK(p.shard.poison_journaled(r, now_, p.out));
  collect(p);
}

void PairRig::restart(Proxy& p) {
  std::destroy_at(&p.shard);
  std::construct_at(&p.shard, config(o_, ++instance_), *arena_);
  p.wan.clear();
  for (Proxy* each : {&a, &b}) {
    each->shard.peer_session(true, now_, each->out);
    collect(*each);
  }
}

void PairRig::carry(Proxy& from, Proxy& to) {
  Queue under_way;
  under_way.swap(from.wan);
  for (Left& l : under_way) {
    if (l.packet) {
      RxItem item{Side::kWan, std::move(l.packet)};
      give(to, &item, nullptr);
    } else {
      give(to, nullptr, &l.message);
    }
  }
}
void PairRig::carry_ab() { carry(a, b); }
void PairRig::carry_ba() { carry(b, a); }
void PairRig::carry() {
  for (int round = 0; round < 100 && !(a.wan.empty() && b.wan.empty()); ++round) {
    carry_ab();
    carry_ba();
  }
}

void PairRig::advance(Instant until, bool carrying) {
  if (carrying) carry();
  int standing = 0;
  for (;;) {
    const Instant next = later(earlier(a.shard.next_wakeup(), b.shard.next_wakeup()), now_);
    if (next > until) break;
    standing = next == now_ ? standing + 1 : 0;
    MRDMA_CHECK(standing < 1000);  // a timer that is due and does nothing would stop time
    now_ = next;
    for (Proxy* p : {&a, &b}) {
      if (p->shard.next_wakeup() <= now_) give(*p, nullptr, nullptr);
    }
    if (carrying) carry();
  }
  now_ = until;
}
void PairRig::wait(Duration d) { advance(now_ + d, false); }
void PairRig::run(Duration d) { advance(now_ + d, true); }

RoceSpec write_only(uint32_t psn, uint8_t fill, bool ack_req) {
  RoceSpec r;
  r.opcode = op::kRcWriteOnly;
  r.psn = Psn{psn};
  r.ack_req = ack_req;
  r.va = 0x1000;
  r.rkey = 7;
  r.payload = payload(fill);
  r.dma_length = static_cast<uint32_t>(r.payload.size());
  return r;
}

RoceSpec write_part(uint8_t opcode, uint32_t psn, bool ack_req) {
  RoceSpec r = write_only(psn, 1, ack_req);
  r.opcode = opcode;
  r.dma_length = 1 << 20;
  return r;
}

RoceSpec read_request(uint32_t psn, uint32_t length, uint64_t va) {
  RoceSpec r;
  r.opcode = op::kRcReadReq;
  r.psn = Psn{psn};
  r.ack_req = true;
  r.va = va;
  r.rkey = 7;
  r.dma_length = length;
  return r;
}

RoceSpec response(uint8_t opcode, uint32_t psn, uint32_t msn) {
  RoceSpec r;
  r.opcode = opcode;
  r.psn = Psn{psn};
  r.syndrome = 31;
  r.msn = Msn{msn};
  r.payload = payload(9);
  return r;
}

RoceSpec answer(uint32_t psn, uint32_t msn, uint8_t syndrome) {
  RoceSpec r;
  r.opcode = op::kRcAck;
  r.psn = Psn{psn};
  r.syndrome = syndrome;
  r.msn = Msn{msn};
  return r;
}

std::string state_at(const Proxy& p, bool source) {
  for (const FlowView& v : p.shard.flows()) {
    if (v.source == source) return v.state;
  }
  return {};
}

RoceSpec cnp() {
  static constexpr uint8_t kZeros[16] = {};
  RoceSpec r;
  r.opcode = op::kCnp;
  r.becn = true;
  r.payload = kZeros;
  return r;
}

std::vector<uint32_t> psns(const Queue& q) {
  std::vector<uint32_t> out;
  for (const Left& l : q) {
    if (l.packet) out.push_back(l.frame().psn().v);
  }
  return out;
}

std::vector<uint32_t> psns(const Queue& q, Cause cause) {
  std::vector<uint32_t> out;
  for (const Left& l : q) {
    if (l.packet && l.cause == cause) out.push_back(l.frame().psn().v);
  }
  return out;
}

std::vector<Aeth> aeths(const Queue& q) {
  std::vector<Aeth> out;
  for (const Left& l : q) {
    if (!l.packet || l.frame().opcode() != op::kRcAck) continue;
    const Frame f = l.frame();
    out.push_back({f.psn().v, f.aeth_syndrome(), f.aeth_msn().v});
  }
  return out;
}

std::vector<uint32_t> acks(const Queue& q) {
  std::vector<uint32_t> out;
  for (const Aeth& x : aeths(q)) {
    if ((x.syndrome & 0xe0) == kAethAck) out.push_back(x.psn);
  }
  return out;
}

std::vector<uint32_t> naks(const Queue& q) {
  std::vector<uint32_t> out;
  for (const Aeth& x : aeths(q)) {
    if (x.syndrome == kNakSequence) out.push_back(x.psn);
  }
  return out;
}

void lose(Queue& q, uint32_t psn) {
  std::erase_if(q, [&](const Left& l) { return l.packet && l.frame().psn().v == psn; });
}
void lose_messages(Queue& q) {
  std::erase_if(q, [](const Left& l) { return !l.packet; });
}

}  // namespace matchrdma::tags
