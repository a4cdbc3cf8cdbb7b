#include "sim/switch_node.h"

namespace matchrdma::sim {

uint32_t SwitchNode::add_port(Link& out, const EcnSettings& ecn) {
  buffer_.add_port(out.spec());
  ports_.push_back(Port{&out, EcnMarker(ecn)});
  return ports() - 1;
}

void SwitchNode::receive(SimPacket* p, uint32_t port, SimTime now) {
  p->in_port = port;
  if (p->kind != FrameKind::kPfc) {
    if (border_ == nullptr || !border_->takes(p, port == long_port_, now)) forward(p, now);
    return;
  }
  ports_[port].pauses.apply(p->traffic_class, p->pause, now);
  context_.packets.release(p);
  send(port, now);
}

void SwitchNode::forward(SimPacket* p, SimTime now) {
  const uint32_t traffic_class = p->traffic_class, in = p->in_port;
  if (traffic_class != kControlClass) {
    if (!buffer_.admits(in, traffic_class, p->size)) {
      ++stats_.drops;
      context_.packets.release(p);
      return;
    }
    buffer_.charge(in, traffic_class, p->size);
  }
  const uint32_t out = route(*p, now);
  push(p, out, now);
  if (traffic_class != kControlClass && buffer_.should_pause(in, traffic_class))
    send_pfc(in, traffic_class, true, now);
  send(out, now);
}

void SwitchNode::enqueue(SimPacket* p, uint32_t out, SimTime now) {
  p->in_port = kNoPort;
  push(p, out, now);
  send(out, now);
}

void SwitchNode::push(SimPacket* p, uint32_t out, SimTime now) {
  ports_[out].queues.push(p, p->traffic_class);
  hold(p->size, now);
}

uint32_t SwitchNode::route(const SimPacket& p, SimTime now) {
  const std::vector<uint32_t>& ports = routes_[p.destination];
  MRDMA_CHECK(!ports.empty());
  if (ports.size() == 1) return ports[0];
  // Seeded by the switch's number, so that neighbours do not all choose alike; both directions differ.
  uint64_t h = (uint64_t{p.source} << 32 | p.destination) * 0x9e3779b97f4a7c15ull;
  h = (h ^ (h >> 29) ^ (uint64_t{p.flow} << 32 | number_)) * 0xbf58476d1ce4e5b9ull;
  h = (h ^ (h >> 32)) * 0x94d049bb133111ebull;
  if (flowlets_) return ports[flowlets_->choose(h, static_cast<uint32_t>(ports.size()), now)];
  return ports[(h >> 33) % ports.size()];
}

void SwitchNode::send_pfc(uint32_t port, uint32_t traffic_class, bool pause, SimTime now) {
  ++(pause ? stats_.pauses : stats_.resumes);
  SimPacket* p = context_.packets.alloc();
  p->kind = FrameKind::kPfc;
  p->traffic_class = static_cast<uint8_t>(traffic_class);
  p->pause = pause;
  p->size = context_.frames.pfc;
  ports_[port].queues.push(p, kControlClass);
  send(port, now);
}

void SwitchNode::on_event(SimTime now, uint64_t port) {
  ports_[port].wakes = false;
  send(static_cast<uint32_t>(port), now);
}

void SwitchNode::send(uint32_t port, SimTime now) {
  Port& p = ports_[port];
  if (p.wakes) return;
  if (p.out->free_at() <= now) {
    uint32_t queue = 0;
    SimPacket* packet = p.queues.pop(p.pauses, queue);
    if (packet == nullptr) return;
    p.out->send(packet, now);
    if (packet->kind != FrameKind::kPfc) hold(-int64_t{packet->size}, now);
    if (queue != kControlClass) left(*packet, port, now);
  }
  if (p.queues.bytes() == 0) return;
  p.wakes = true;
  context_.events.schedule(p.out->free_at(), *this, port);
}

void SwitchNode::left(SimPacket& p, uint32_t port, SimTime now) {
  if (p.in_port != kNoPort) {
    if (ports_[port].ecn.marks(ports_[port].queues.bytes(p.traffic_class), prng_)) {
      p.ce = true;
      ++stats_.marks;
    }
    buffer_.release(p.in_port, p.traffic_class, p.size);
    if (buffer_.should_resume(p.in_port, p.traffic_class)) send_pfc(p.in_port, p.traffic_class, false, now);
  }
  if (border_ != nullptr) border_->leaves(p, port == long_port_, now);
}

}  // namespace matchrdma::sim
