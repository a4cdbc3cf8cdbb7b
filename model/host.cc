#include "model/host.h"

#include <utility>

#include "dataplane/wire/icrc.h"
#include "model/ip_identification.h"

namespace matchrdma::model {

Qp& Host::add_qp(const QpIdentity& id, const RequesterConfig& requester, const ResponderConfig& responder,
                 const MemoryConfig& own_memory, const MemoryConfig& peer_memory, uint64_t seed) {
  MRDMA_CHECK(find(id.local) == nullptr);
  qps_.push_back(std::make_unique<Qp>(id, requester, responder, own_memory, peer_memory, seed));
  by_number_[id.local.v] = qps_.back().get();
  return *qps_.back();
}

void Host::remove_qp(Qpn local) {
  by_number_.erase(local.v);
  std::erase_if(qps_, [local](const auto& qp) { return qp->id.local == local; });
}

Qp* Host::find(Qpn local) {
  const auto it = by_number_.find(local.v);
  return it == by_number_.end() ? nullptr : it->second;
}

void Host::on_packet(Bytes frame, Instant now) {
  ++stats_.received;
  const ParseResult r = parse_frame(frame);
  const Frame& f = r.frame;
  if (r.kind != ParseKind::kRoce || r.reason != Reason::kNone) {
    ++stats_.foreign;
    return;
  }
  if (!icrc_ok(f)) {  // dropped without a trace: the gap tells the story
    ++stats_.bad_icrc;
    return;
  }
  const OpcodeInfo& o = f.info();
  if (cm_ != nullptr && o.transport == Transport::kUd && f.dest_qp() == Qpn{1}) {
    cm_->on_packet(f, now);
    return;
  }
  Qp* qp = find(f.dest_qp());
  if (qp == nullptr || f.destination() != qp->id.path.src || f.source() != qp->id.path.dst) {
    ++stats_.foreign;
    return;
  }
  if (o.transport == Transport::kCnp) {
    qp->requester.on_cnp();
    return;
  }
  if (o.transport != Transport::kRc) {
    ++stats_.foreign;
    return;
  }
  if (f.ecn() == 3 && config_.cnp_interval.ns > 0 && now >= qp->cnp_allowed) {
    qp->cnp_due = true;
    qp->cnp_allowed = now + config_.cnp_interval;
  }
  if (o.response) {
    qp->requester.on_response(f, now);
    if (qp->requester.failed()) qp->responder.fail();
  } else {
    qp->responder.on_request(f, now);
    if (qp->responder.failed()) qp->requester.fail(WcStatus::kFlushed, now);
  }
}

PacketRef Host::poll_qp(Qp& qp, Instant now) {
  if (qp.cnp_due) {
    L2L3 path = qp.id.path;
    path.traffic_class = 48 << 2;
    PacketRef p = build_cnp(path, qp.id.remote, pool_);
    if (p) {
      qp.cnp_due = false;
      ++stats_.cnps_sent;
    }
    return p;
  }
  // Answers first: they free the other side's window.
  if (qp.responder.ready(now))
    if (PacketRef p = qp.responder.poll(now, pool_)) return p;
  if (!qp.requester.ready(now)) return {};
  PacketRef p = qp.requester.poll(now, pool_);
  if (qp.requester.failed()) qp.responder.fail();
  return p;
}

PacketRef Host::sent(PacketRef p, Instant now) {
  if (config_.number_packets) stamp_identification({p->data, p->size}, identification_++);
  ++stats_.sent;
  stats_.sent_bytes += p->size;
  pace(p->size, now);
  return p;
}

PacketRef Host::poll(Instant now) {
  last_now_ = now;
  if (now < next_tx_) return {};
  if (cm_ != nullptr && cm_->ready(now))
    if (PacketRef p = cm_->poll(now, pool_)) return sent(std::move(p), now);
  for (size_t i = 0; i < qps_.size(); ++i) {
    turn_ = (turn_ + 1) % qps_.size();
    if (PacketRef p = poll_qp(*qps_[turn_], now)) return sent(std::move(p), now);
  }
  for (const auto& qp : qps_)
    if (ready(*qp, now)) {
      ++stats_.no_buffer;
      next_tx_ = now + Duration::micros(1);
      break;
    }
  return {};
}

bool Host::ready(const Qp& qp, Instant now) const {
  return qp.cnp_due || qp.responder.ready(now) || qp.requester.ready(now);
}

void Host::pace(uint32_t bytes, Instant now) {
  if (config_.tx_rate.bps <= 0) return;
  constexpr int64_t kNanos = 1'000'000'000;
  next_tx_ = now + Duration{(int64_t{bytes} * 8 * kNanos + config_.tx_rate.bps - 1) / config_.tx_rate.bps};
}

Instant Host::next_deadline() const {
  Instant due = cm_ == nullptr ? Instant::never() : cm_->next_timer();
  if (cm_ != nullptr && cm_->ready(last_now_)) return next_tx_;
  for (const auto& qp : qps_) {
    if (ready(*qp, last_now_)) return next_tx_;
    due = earlier(due, earlier(qp->responder.next_timer(), qp->requester.next_timer()));
  }
  return due.is_never() ? due : later(due, next_tx_);
}

bool Host::idle() const {
  for (const auto& qp : qps_)
    if (!qp->requester.idle()) return false;
  return true;
}

uint64_t Host::violations() const {
  uint64_t n = 0;
  for (const auto& qp : qps_) n += qp->violations();
  return n;
}

bool QpPair::check_memory(Instant now) const {
  const bool at_b = b->responder.check_memory(a->requester.shadow(), now);
  return a->responder.check_memory(b->requester.shadow(), now) && at_b;
}

QpPair connect(Host& a, Host& b, const PairConfig& c) {
  QpIdentity ia;
  ia.path = c.path;
  ia.local = c.qpn_a;
  ia.remote = c.qpn_b;
  ia.send_start = c.start_a;
  ia.receive_start = c.start_b;
  ia.path_mtu = c.path_mtu;
  ia.pkey = c.pkey;
  ia.content_key = c.seed * 2 + 1;
  ia.peer_content_key = c.seed * 2 + 2;
  QpIdentity ib = ia;
  std::swap(ib.path.mac_src, ib.path.mac_dst);
  std::swap(ib.path.src, ib.path.dst);
  if (c.b_source_port != 0) ib.path.udp_source_port = c.b_source_port;
  if (c.b_hop_limit != 0) ib.path.hop_limit = c.b_hop_limit;
  std::swap(ib.local, ib.remote);
  std::swap(ib.send_start, ib.receive_start);
  std::swap(ib.content_key, ib.peer_content_key);
  QpPair pair;
  pair.a = &a.add_qp(ia, c.requester_a, c.responder_a, c.memory_a, c.memory_b, c.seed * 2);
  pair.b = &b.add_qp(ib, c.requester_b, c.responder_b, c.memory_b, c.memory_a, c.seed * 2 + 1);
  pair.a->responder.set_truth(&pair.b->requester);
  pair.b->responder.set_truth(&pair.a->requester);
  return pair;
}

}  // namespace matchrdma::model
