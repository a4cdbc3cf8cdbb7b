#include "sim/schemes/proxy_border.h"

#include <algorithm>
#include <cstring>

namespace matchrdma::sim {
namespace {

constexpr uint32_t kFcs = 4;
/// Ethernet, IPv4, UDP and FCS around a datagram of the proxies.
constexpr uint32_t kDatagramHeaders = 14 + 20 + 8 + kFcs;

}  // namespace

ProxyBorder::ProxyBorder(SimContext& context, SwitchNode& node, model::PacketArena& pool,
                         const EndpointConfig& config)
    : context_(context),
      node_(node),
      pool_(pool),
      codec_(pool),
      proxy_(config, pool, *this, instant(context.events.now())),
      timer_(context.events, *this, 0) {
  set_timer(context.events.now());
}

bool ProxyBorder::takes(SimPacket* p, bool from_long, SimTime now) {
  now_ = now;
  bool at_once = false;
  if (p->kind == FrameKind::kProxy) {
    proxy_.add_datagram(p->bytes->bytes(), instant(now));
    // It speaks of the packets before it, so none may come after it in one run.
    at_once = p->traffic_class == kDataClass;
  } else if (from_long) {
    proxy_.add(Side::kWan, std::move(p->bytes));
  } else {
    proxy_.add(Side::kLan, codec_.encode(*p));
  }
  context_.packets.release(p);
  if (at_once || proxy_.waiting() >= ProxyEndpoint::kBurst) {
    run(now);
  } else if (poll_at_.is_never()) {
    poll_at_ = now + kPoll;
    set_timer(now);
  }
  return true;
}

Registered ProxyBorder::register_qp(const Registration& reg, bool local_a, SimTime now) {
  now_ = now;
  const Registered r = proxy_.register_qp(reg, local_a, instant(now));
  set_timer(now);
  return r;
}

void ProxyBorder::run(SimTime now) {
  now_ = now;
  poll_at_ = SimTime::never();
  proxy_.poll(instant(now));
  if (proxy_.due(instant(now))) proxy_.run(instant(now));
  const Counters& n = proxy_.shard().counters();
  const auto held = static_cast<int64_t>(n.held_bytes - n.unsettled_bytes + n.gate_bytes);
  node_.border_holds(held - held_, now);
  held_ = held;
  set_timer(now);
}

void ProxyBorder::set_timer(SimTime now) {
  const Instant wake = proxy_.next_wakeup();
  // What is due at once has had its turn: the outbox was full, or the clock stands between two nanoseconds.
  const SimTime due =
      wake.is_never() ? SimTime::never() : std::max(SimTime{wake.ns * 1000}, now + SimSpan::nanos(1));
  timer_.set(std::min(due, poll_at_));
}

void ProxyBorder::packet(OutItem& item) {
  SimPacket* p = context_.packets.alloc();
  p->size = item.packet->size + kFcs;
  if (item.side == Side::kWan) {
    p->traffic_class = item.priority ? kControlClass : kDataClass;
    p->bytes = std::move(item.packet);
    node_.emit_long(p, now_);
  } else if (codec_.decode(item.packet->bytes(), *p)) {
    p->traffic_class = p->kind == FrameKind::kData ? kDataClass : kControlClass;
    node_.emit(p, now_);
  } else {
    context_.packets.release(p);
  }
}

void ProxyBorder::datagram(Queue queue, Bytes udp_payload) {
  SimPacket* p = context_.packets.alloc();
  p->kind = FrameKind::kProxy;
  p->bytes = pool_.copy(udp_payload);
  p->size = static_cast<uint32_t>(udp_payload.size()) + kDatagramHeaders;
  p->traffic_class = queue == Queue::kData ? kDataClass : kControlClass;
  control_bytes_ += p->size;
  node_.emit_long(p, now_);
}

}  // namespace matchrdma::sim
