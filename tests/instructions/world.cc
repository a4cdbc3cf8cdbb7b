#include "tests/instructions/world.h"

#include <array>
#include <utility>

#include "dataplane/wire/icrc.h"

namespace matchrdma::instructions {
namespace {

constexpr uint32_t kStartA = 100, kStartB = 5000;
constexpr Duration kStep = Duration::micros(4);  // of 32 packets of 1 KiB at less than 100 Gb/s

Qpn qpn_a(uint32_t flow) { return Qpn{0x1000 + flow}; }
Qpn qpn_b(uint32_t flow) { return Qpn{0x2000 + flow}; }
uint32_t flow_of(Qpn q) { return q.v & 0xfff; }

ShardConfig config(uint32_t instance) {
  ShardConfig c;
  c.limits.max_flows = 1024;
  c.limits.max_owning_flows = 1024;
  c.limits.custody_packets = 1 << 16;
  c.limits.held_packets = 1 << 16;
  c.instance = instance;
  return c;
}

}  // namespace

void unmeasured(Shard& shard, std::span<RxItem> burst, std::span<const Message> messages, Instant now,
                Outbox& out) {
  shard.run_once(burst, messages, now, out);
}

L2L3 path(bool from_a) {
  constexpr std::array<uint8_t, 4> kA{10, 9, 0, 1}, kB{10, 9, 1, 1};
  L2L3 l;
  l.mac_dst = {2, 0, 0, 0, 0, static_cast<uint8_t>(from_a ? 2 : 1)};
  l.mac_src = {2, 0, 0, 0, 0, static_cast<uint8_t>(from_a ? 1 : 2)};
  l.src = IpAddress::v4(from_a ? kA.data() : kB.data());
  l.dst = IpAddress::v4(from_a ? kB.data() : kA.data());
  l.udp_source_port = 0xc001;
  l.traffic_class = kEct0;
  return l;
}

RoceSpec write_packet(Qpn to, uint32_t psn, uint32_t index, uint32_t of) {
  static constexpr std::array<uint8_t, kPayload> kBytes{1, 2, 3};
  RoceSpec r;
  r.opcode = of == 1           ? op::kRcWriteOnly
             : index == 0      ? op::kRcWriteFirst
             : index + 1 == of ? op::kRcWriteLast
                               : op::kRcWriteMiddle;
  r.dest_qp = to;
  r.psn = Psn{psn};
  r.ack_req = index + 1 == of;
  r.va = 0x1000;
  r.rkey = 7;
  r.dma_length = of * kPayload;
  r.payload = kBytes;
  return r;
}

World::World(bool proxied) : a_(config(1), arena_), b_(config(2), arena_), proxied_(proxied) {
  for (uint32_t i = 0; i < kFlows && proxied; ++i) {
    Registration r;
    r.a = {path(true).src, qpn_a(i), true, Psn{kStartA}, 0};
    r.b = {path(true).dst, qpn_b(i), true, Psn{kStartB}, 0};
    r.path_mtu = kPayload;
    r.completion = Completion::kEarly;
    if (a_.register_qp(r, true, now_, out_a_) != Registered::kYes) wrong("a pair is not registered");
    leave(true);
    for (int n = 0; n < 8; ++n) step({}, unmeasured, unmeasured);
    if (!a_.registered(r) || !b_.registered(r)) wrong("a registered pair does not start");
  }
}

void World::wrong(const std::string& what) {
  if (wrong_.empty()) wrong_ = what;
}

void World::send(uint32_t bursts, uint32_t message, Run run_a, Run run_b) {
  std::array<RxItem, kBurst> burst;
  for (uint32_t n = 0; n < bursts; ++n) {
    for (RxItem& item : burst) {
      Flow& f = flows_[next_flow_];
      const RoceSpec r = write_packet(qpn_b(next_flow_), kStartA + f.sent, f.sent % message, message);
      item = {Side::kLan, build_roce(path(true), r, arena_)};
      ++f.sent;
      next_flow_ = (next_flow_ + 1) % kFlows;
    }
    step(burst, run_a, run_b);
  }
}

void World::step(std::span<RxItem> burst, Run run_a, Run run_b) {
  now_ = now_ + kStep;
  std::vector<RxItem> rx = std::exchange(to_a_, {});
  for (RxItem& item : burst) rx.push_back(std::move(item));
  const std::vector<Message> said_to_a = std::exchange(say_to_a_, {});
  run_a(a_, rx, said_to_a, now_, out_a_);
  leave(true);
  rx = std::exchange(to_b_, {});
  const std::vector<Message> said_to_b = std::exchange(say_to_b_, {});
  run_b(b_, rx, said_to_b, now_, out_b_);
  leave(false);
}

void World::leave(bool a) {
  Outbox& out = a ? out_a_ : out_b_;
  for (OutItem& item : out.items()) {
    if (!item.packet) {
      (a ? say_to_b_ : say_to_a_).push_back(*item.message);
    } else if (item.side == Side::kWan) {
      // What custody keeps stays here: the other proxy gets bytes of its own, as from a port.
      (a ? to_b_ : to_a_).push_back({Side::kWan, arena_.copy(item.packet->bytes())});
      arrived_at_b_ += a ? 1 : 0;
    } else if (const Frame f = parse_frame(item.packet->bytes()).frame; a) {
      acknowledged(f);
    } else {
      received(f);
    }
  }
  out.clear();
}

void World::received(const Frame& f) {
  const uint32_t i = flow_of(f.dest_qp());
  Flow& flow = flows_[i];
  if (f.psn().v != kStartA + flow.delivered || !icrc_ok(f))
    return wrong("a packet is not delivered as it was sent");
  ++flow.delivered;
  if (f.info().ends_message()) ++flow.messages;
  if (!f.ack_req()) return;
  RoceSpec r;
  r.opcode = op::kRcAck;
  r.dest_qp = qpn_a(i);
  r.psn = f.psn();
  r.syndrome = 31;
  r.msn = Msn{flow.messages};
  to_b_.push_back({Side::kLan, build_roce(path(false), r, arena_)});
}

void World::acknowledged(const Frame& f) {
  Flow& flow = flows_[flow_of(f.dest_qp())];
  const uint32_t end = f.psn().v - kStartA + 1;
  if (f.opcode() != op::kRcAck || (f.aeth_syndrome() & 0xe0) != kAethAck || !icrc_ok(f))
    return wrong("a sender is told something else than an ACK");
  if (end < flow.acked_end || end > flow.sent) return wrong("an ACK goes back, or is for what was not sent");
  flow.acked_end = end;
}

std::string World::finish() {
  for (int n = 0; n < 1000; ++n) step({}, unmeasured, unmeasured);
  for (const Flow& f : flows_) {
    if (f.delivered != f.sent) wrong("a packet is not delivered");
    if (f.acked_end != f.sent) wrong("a packet is not acknowledged");
  }
  if (a_.owned_packets() != 0) wrong("a packet is owned still");
  if (!proxied_ && a_.counters().pseudo_acks != 0) wrong("what nobody knows is proxied");
  if (proxied_ && a_.counters().custody_resends + b_.counters().redelivered != 0)
    wrong("something was sent twice");
  return wrong_;
}

}  // namespace matchrdma::instructions
