#include "model/cm_agent.h"

#include <array>

namespace matchrdma::model {
namespace {

constexpr uint32_t kCmQkey = 0x80010000;  // IBA 3.5.3: well known, of QP 1

}  // namespace

const CmAgent::Connection* CmAgent::find(uint32_t local_id) const {
  for (const Connection& c : connections_)
    if (c.own.local_id == local_id) return &c;
  return nullptr;
}

CmAgent::Connection* CmAgent::by_local(uint32_t id) {
  for (Connection& c : connections_)
    if (c.own.local_id == id) return &c;
  return nullptr;
}

void CmAgent::await(Connection& c, State state, Instant now) {
  c.state = state;
  c.resend = now + patience();
}

void CmAgent::connect(const CmEndpoint& e, Instant now) {
  MRDMA_CHECK(find(e.local_id) == nullptr);
  connections_.push_back({.own = e});
  connections_.back().transaction = config_.first_transaction + transactions_++;
  await(connections_.back(), State::kReqSent, now);
  send(connections_.size() - 1, CmType::kReq);
}

void CmAgent::listen(const CmEndpoint& e) {
  MRDMA_CHECK(find(e.local_id) == nullptr);
  connections_.push_back({.own = e});
}

void CmAgent::disconnect(uint32_t local_id, Instant now) {
  Connection* c = by_local(local_id);
  MRDMA_CHECK(c != nullptr);
  if (c->state != State::kEstablished) return;
  c->transaction = config_.first_transaction + transactions_++;
  await(*c, State::kDreqSent, now);
  send(static_cast<size_t>(c - connections_.data()), CmType::kDreq);
}

void CmAgent::send(size_t connection, CmType type) {
  const Connection& c = connections_[connection];
  CmMessage m;
  m.type = type;
  m.transaction = c.transaction;
  m.local_id = c.own.local_id;
  m.remote_id = c.remote_id;
  m.qpn = type == CmType::kDreq ? c.remote_qpn : c.own.qpn;
  m.start = c.own.start;
  m.service_port = c.own.service_port;
  m.path_mtu = c.own.path_mtu;
  m.response_timeout = config_.response_timeout;
  m.ack_timeout = config_.ack_timeout;
  queue_.push_back({m, connection});
}

/// A REQ that comes again asks for the REP again; one for a connection that is up comes late and means nothing.
void CmAgent::on_req(const CmMessage& m, Instant now) {
  for (size_t i = 0; i < connections_.size(); ++i) {
    Connection& c = connections_[i];
    if (c.own.expected_id != m.local_id || (c.state != State::kListening && c.state != State::kRepSent))
      continue;
    c.remote_id = m.local_id;
    c.remote_qpn = m.qpn;
    c.remote_start = m.start;
    c.transaction = m.transaction;
    await(c, State::kRepSent, now);
    send(i, CmType::kRep);
  }
}

/// A REP that comes again tells that the RTU was lost.
void CmAgent::on_rep(const CmMessage& m) {
  Connection* c = by_local(m.remote_id);
  if (c == nullptr || (c->state != State::kReqSent && c->state != State::kEstablished)) return;
  c->remote_id = m.local_id;
  c->remote_qpn = m.qpn;
  c->remote_start = m.start;
  c->state = State::kEstablished;
  c->resend = Instant::never();
  send(static_cast<size_t>(c - connections_.data()), CmType::kRtu);
}

void CmAgent::on_packet(const Frame& f, Instant now) {
  const std::optional<CmMessage> m = read_cm(f);
  if (!m) return;
  if (m->type == CmType::kReq) return on_req(*m, now);
  if (m->type == CmType::kRep) return on_rep(*m);
  Connection* c = by_local(m->remote_id);
  if (c == nullptr) return;
  const size_t index = static_cast<size_t>(c - connections_.data());
  if (m->type == CmType::kRtu && c->state == State::kRepSent) {
    c->state = State::kEstablished;
    c->resend = Instant::never();
  } else if (m->type == CmType::kDreq) {
    c->state = State::kClosed;
    c->resend = Instant::never();
    c->transaction = m->transaction;
    send(index, CmType::kDrep);
  } else if (m->type == CmType::kDrep && c->state == State::kDreqSent) {
    c->state = State::kClosed;
    c->resend = Instant::never();
  }
}

Instant CmAgent::next_timer() const {
  Instant at = Instant::never();
  for (const Connection& c : connections_) at = earlier(at, c.resend);
  return at;
}

PacketRef CmAgent::poll(Instant now, PacketPool& pool) {
  for (size_t i = 0; i < connections_.size(); ++i) {
    Connection& c = connections_[i];
    if (now < c.resend) continue;
    c.resend = now + patience();
    send(i, c.state == State::kReqSent   ? CmType::kReq
            : c.state == State::kRepSent ? CmType::kRep
                                         : CmType::kDreq);
  }
  if (queue_.empty()) return {};
  const Outgoing& next = queue_.front();
  const L2L3& path = connections_[next.connection].own.path;
  std::array<uint8_t, kCmMadBytes> mad;
  write_cm(next.message, path, mad);
  RoceSpec spec;
  spec.opcode = op::kUdSendOnly;
  spec.dest_qp = Qpn{1};
  spec.source_qp = Qpn{1};
  spec.qkey = kCmQkey;
  spec.psn = Psn{psn_ & Psn::kMask};
  spec.mig_req = false;  // as Soft-RoCE sends it, AckReq included
  spec.ack_req = true;
  spec.payload = mad;
  PacketRef p = build_roce(path, spec, pool);
  if (!p) return p;
  ++psn_;
  queue_.erase(queue_.begin());
  return p;
}

}  // namespace matchrdma::model
