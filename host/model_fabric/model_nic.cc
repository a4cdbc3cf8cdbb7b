#include "host/model_fabric/model_nic.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "dataplane/base/check.h"
#include "host/model_fabric/model_net.h"
#include "host/model_fabric/model_qp.h"

namespace matchrdma::host {
namespace {

ModelPacket::Op op_of(SendRequest::Op op) {
  switch (op) {
    case SendRequest::Op::kWrite:
      return ModelPacket::Op::kWrite;
    case SendRequest::Op::kWriteImm:
      return ModelPacket::Op::kWriteImm;
    case SendRequest::Op::kSend:
      return ModelPacket::Op::kSend;
    case SendRequest::Op::kFetchAdd:
    case SendRequest::Op::kCompareSwap:
      break;
  }
  return ModelPacket::Op::kAtomic;
}

}  // namespace

ModelNic::ModelNic(ModelNet& net, uint32_t index, const NicModel& model)
    : net_(net), index_(index), model_(model), next_qpn_(17 + index * 100'000), ports_(net.paths()) {}
ModelNic::~ModelNic() = default;

ModelNic::Qp* ModelNic::find(QpHandle handle) const {
  return handle.v < qps_.size() ? qps_[handle.v].get() : nullptr;
}

ModelNic::Qp* ModelNic::find_qpn(uint32_t qpn) const {
  for (const auto& q : qps_)
    if (q && q->qpn == qpn) return q.get();
  return nullptr;
}

Result<QpHandle> ModelNic::create_qp(const QpOptions& o) {
  if (o.send_queue > limits().max_send_queue || o.receive_queue > limits().max_receive_queue)
    return Error{"queue pair: queues of " + std::to_string(o.send_queue) + " and " +
                 std::to_string(o.receive_queue) + " requests are more than this NIC has"};
  if (o.transport == Transport::kUc && !limits().uc) return Error{"queue pair: this NIC has no UC"};
  auto q = std::make_unique<Qp>();
  q->handle = {static_cast<uint32_t>(qps_.size())};
  q->qpn = next_qpn_++;
  q->psn = static_cast<uint32_t>(net_.prng().below(1 << 24));
  q->options = o;
  qps_.push_back(std::move(q));
  return qps_.back()->handle;
}

QpAddress ModelNic::address(QpHandle qp) const {
  const Qp* q = find(qp);
  MRDMA_CHECK(q != nullptr);
  QpAddress a{q->qpn, q->psn, {}};
  a.gid[15] = static_cast<uint8_t>(index_ + 1);
  return a;
}

Result<void> ModelNic::connect(QpHandle qp, const QpAddress& peer, const ConnectOptions& o) {
  Qp* q = find(qp);
  if (q == nullptr || q->state != Qp::State::kReset) return Error{"queue pair: connected once already"};
  if (o.path >= ports_.size())
    return Error{"queue pair: path " + std::to_string(o.path) + " is not there: this model has " +
                 std::to_string(ports_.size()) + " (paths of its options)"};
  q->peer = peer;
  q->connection = o;
  q->retries_left = o.retries;
  q->state = Qp::State::kReady;
  return {};
}

void ModelNic::flushed(const Qp& q, Completion::Kind kind, uint64_t id) {
  complete({kind, Completion::Status::kFlushed, q.handle, id, 0, 0});
}

void ModelNic::flush(Qp& q) {
  for (const Qp::Posted& p : q.posted) flushed(q, Completion::Kind::kSend, p.request.id);
  for (const ReceiveRequest& r : q.receives) flushed(q, Completion::Kind::kReceive, r.id);
  q.posted.clear();
  q.receives.clear();
  q.psn_next = q.psn_made;
  ++q.timer;
}

void ModelNic::fail_qp(QpHandle qp) {
  if (Qp* q = find(qp); q != nullptr) fail(*q);
}

void ModelNic::fail(Qp& q) {
  if (q.state == Qp::State::kError) return;
  q.state = Qp::State::kError;
  flush(q);
}

void ModelNic::fail_request(Qp& q, Completion::Status status) {
  if (!q.posted.empty()) {
    complete({Completion::Kind::kSend, status, q.handle, q.posted.front().request.id, 0, 0});
    q.posted.pop_front();
  }
  fail(q);
}

void ModelNic::destroy_qp(QpHandle qp) {
  if (find(qp) == nullptr) return;
  qps_[qp.v].reset();
  std::erase_if(completions_, [qp](const Completion& c) { return c.qp == qp; });
}

Result<Region> ModelNic::add_region(MutableBytes memory, Access access) {
  if (memory.empty() || memory.size() > limits().max_region)
    return Error{"memory region of " + std::to_string(memory.size()) + " bytes: this NIC takes 1 to " +
                 std::to_string(limits().max_region)};
  const uint32_t key = next_key_++;
  memory_[key] = {memory, access};
  return Region{key, key, key, 0};
}

void ModelNic::remove_region(const Region& region) {
  const auto it = memory_.find(region.rkey);
  MRDMA_CHECK(it != memory_.end() && !it->second.removed);
  end_torn_writes();
  if (model_.keys_never_end) {
    it->second.removed = true;
  } else {
    memory_.erase(it);
  }
}

size_t ModelNic::post_send(QpHandle qp, std::span<const SendRequest> requests) {
  Qp* q = find(qp);
  MRDMA_CHECK(q != nullptr);
  if (q->state == Qp::State::kError) {
    for (const SendRequest& r : requests) flushed(*q, Completion::Kind::kSend, r.id);
    return requests.size();
  }
  size_t taken = 0;
  for (const SendRequest& r : requests) {
    if (q->state != Qp::State::kReady || q->posted.size() >= q->options.send_queue) break;
    const auto mtu = static_cast<int64_t>(q->connection.path_mtu);
    const int64_t packets = std::max<int64_t>(1, (static_cast<int64_t>(r.data.size()) + mtu - 1) / mtu);
    MRDMA_CHECK(q->options.transport != Transport::kUd || packets == 1);
    MRDMA_CHECK(!r.atomic() || (q->options.transport == Transport::kRc && r.result.size() == sizeof(uint64_t)));
    q->posted.push_back({r, q->psn_made, packets});
    q->psn_made += packets;
    ++taken;
  }
  pump(q->connection.path);
  return taken;
}

std::optional<QpHandle> ModelNic::handle_of(uint32_t qpn) const {
  const Qp* q = find_qpn(qpn);
  return q == nullptr ? std::nullopt : std::optional(q->handle);
}

bool ModelNic::reads(Bytes memory) const {
  const auto within = [memory](const Qp::Posted& p) {
    return p.request.data.data() >= memory.data() && p.request.data.data() < memory.data() + memory.size();
  };
  return std::any_of(qps_.begin(), qps_.end(), [&](const auto& q) {
    return q && q->state == Qp::State::kReady && std::any_of(q->posted.begin(), q->posted.end(), within);
  });
}

size_t ModelNic::post_receive(QpHandle qp, std::span<const ReceiveRequest> requests) {
  Qp* q = find(qp);
  MRDMA_CHECK(q != nullptr);
  if (q->state == Qp::State::kError) {
    for (const ReceiveRequest& r : requests) flushed(*q, Completion::Kind::kReceive, r.id);
    return requests.size();
  }
  size_t taken = 0;
  for (const ReceiveRequest& r : requests) {
    if (q->receives.size() >= q->options.receive_queue) break;
    q->receives.push_back(r);
    ++taken;
  }
  return taken;
}

size_t ModelNic::poll(std::span<Completion> out) {
  const size_t n = std::min(out.size(), completions_.size());
  std::copy_n(completions_.begin(), n, out.begin());
  completions_.erase(completions_.begin(), completions_.begin() + static_cast<std::ptrdiff_t>(n));
  return n;
}

// A full completion queue loses completions, so every queue pair that feeds it dies (IBA 11.6.3.1).
void ModelNic::complete(Completion c) {
  if (completions_.size() < limits().max_completion_queue) {
    completions_.push_back(c);
    return;
  }
  ++n_.overflows;
  for (const auto& q : qps_)
    if (q) q->state = Qp::State::kError;
}

// ---- sending

void ModelNic::pump(uint32_t path) {
  Port& port = ports_[path];
  if (port.waits) return;
  for (size_t tried = 0; tried < qps_.size(); ++tried) {
    port.turn = (port.turn + 1) % qps_.size();
    Qp* const q = qps_[port.turn].get();
    if (q != nullptr && q->connection.path == path && send_next(*q)) return;
  }
}

bool ModelNic::send_next(Qp& q) {
  if (q.state != Qp::State::kReady || q.psn_next >= q.psn_made || q.rnr_until > net_.now()) return false;
  const int64_t psn = q.psn_next++;
  if (psn < q.psn_sent) ++n_.resent;
  q.psn_sent = std::max(q.psn_sent, q.psn_next);
  ModelPacket p = packet_of(q, psn);
  const auto bytes = static_cast<uint32_t>(p.payload.size()) + model_.header_bytes;
  const Instant free = net_.transmit(index_, std::move(p), bytes);
  if (!q.unreliable()) arm_timer(q);
  const uint32_t path = q.connection.path;
  ports_[path].waits = true;
  net_.at(free, [this, qpn = q.qpn, path] {
    ports_[path].waits = false;
    if (Qp* sent = find_qpn(qpn); sent != nullptr && sent->unreliable()) retire(*sent, sent->psn_next);
    pump(path);
  });
  return true;
}

ModelPacket ModelNic::packet_of(Qp& q, int64_t psn) {
  const auto it = std::partition_point(q.posted.begin(), q.posted.end(),
                                       [psn](const Qp::Posted& p) { return p.first_psn + p.packets <= psn; });
  MRDMA_CHECK(it != q.posted.end());
  const SendRequest& r = it->request;
  const size_t at = static_cast<size_t>(psn - it->first_psn) * q.connection.path_mtu;
  const Bytes part = r.data.subspan(at, std::min<size_t>(q.connection.path_mtu, r.data.size() - at));
  ModelPacket p;
  p.op = op_of(r.op);
  p.reliable = !q.unreliable();
  p.path = q.connection.path;
  p.compares = r.op == SendRequest::Op::kCompareSwap;
  p.add_or_compare = r.add_or_compare;
  p.swap = r.swap;
  p.first = psn == it->first_psn;
  p.last = psn + 1 == it->first_psn + it->packets;
  p.to_qpn = q.peer.qpn;
  p.from_qpn = q.qpn;
  p.psn = psn;
  p.session = q.psn;
  p.remote = r.remote + at;
  p.rkey = r.rkey;
  p.immediate = r.immediate;
  p.payload.assign(part.begin(), part.end());
  return p;
}

// Everything below is done: sent, or acknowledged.
void ModelNic::retire(Qp& q, int64_t below) {
  while (!q.posted.empty() && q.posted.front().first_psn + q.posted.front().packets <= below) {
    const SendRequest& r = q.posted.front().request;
    if (r.signalled)
      complete({Completion::Kind::kSend, Completion::Status::kOk, q.handle, r.id,
                static_cast<uint32_t>(r.data.size()), 0});
    q.posted.pop_front();
  }
}

// ---- receiving

void ModelNic::arrive(const ModelPacket& p) {
  Qp* q = find_qpn(p.to_qpn);
  const bool request = p.kind == ModelPacket::Kind::kRequest;
  if (q == nullptr || q->state != Qp::State::kReady || (request ? q->peer.psn : q->psn) != p.session) {
    ++n_.nobody;
    return;
  }
  if (!request) {
    answered(*q, p);
  } else if (q->unreliable()) {
    take_unreliable(*q, p);
  } else {
    take_reliable(*q, p);
  }
}

bool ModelNic::needs_receive(const ModelPacket& p) const {
  return (p.op == ModelPacket::Op::kWriteImm && p.last) || (p.op == ModelPacket::Op::kSend && p.first);
}

// IBA 9.7.4.1.3: the key of a WRITE without data is not looked at.
bool ModelNic::writable(const ModelPacket& p) const {
  if (p.op == ModelPacket::Op::kSend || (p.payload.empty() && p.op != ModelPacket::Op::kAtomic)) return true;
  const auto it = memory_.find(p.rkey);
  if (it == memory_.end() || it->second.access == Access::kLocal) return false;
  const bool atomic = p.op == ModelPacket::Op::kAtomic;
  if (atomic && (it->second.access != Access::kRemoteAtomic || p.remote % sizeof(uint64_t) != 0)) return false;
  const size_t bytes = atomic ? sizeof(uint64_t) : p.payload.size();
  return p.remote <= it->second.bytes.size() && bytes <= it->second.bytes.size() - p.remote;
}

void ModelNic::end_torn_writes() {
  for (const auto& [place, bytes] : torn_) std::copy(bytes.begin(), bytes.end(), place.begin());
  torn_.clear();
}

void ModelNic::write(const ModelPacket& p) {
  end_torn_writes();
  if (p.payload.empty()) return;
  const MutableBytes place = memory_.at(p.rkey).bytes.subspan(p.remote, p.payload.size());
  size_t now = p.payload.size();
  if (p.op == ModelPacket::Op::kWrite && model_.torn > 0 && net_.prng().chance(model_.torn)) {
    now /= 2;
    torn_.emplace_back(
        place.subspan(now),
        std::vector<uint8_t>(p.payload.begin() + static_cast<std::ptrdiff_t>(now), p.payload.end()));
    net_.at(net_.now() + model_.torn_for, [this] { end_torn_writes(); });
  }
  std::copy_n(p.payload.begin(), now, place.begin());
}

// Writes its bytes and, where it ends a message that somebody waits for, completes it.
void ModelNic::execute(Qp& q, const ModelPacket& p) {
  if (p.first) q.received = 0;
  if (p.op != ModelPacket::Op::kSend) {
    write(p);
    q.received += static_cast<uint32_t>(p.payload.size());
    if (p.op == ModelPacket::Op::kWrite || !p.last) return;
    const ReceiveRequest r = q.receives.front();
    q.receives.pop_front();
    complete({Completion::Kind::kReceiveImm, Completion::Status::kOk, q.handle, r.id, q.received, p.immediate});
    return;
  }
  const ReceiveRequest& r = q.receives.front();
  const size_t prefix = q.options.transport == Transport::kUd ? kUdPrefix : 0;
  const size_t at = prefix + q.received;
  if (at + p.payload.size() <= r.data.size())
    std::copy(p.payload.begin(), p.payload.end(), r.data.begin() + static_cast<std::ptrdiff_t>(at));
  q.received += static_cast<uint32_t>(p.payload.size());
  if (!p.last) return;
  const bool fits = prefix + q.received <= r.data.size();
  complete({Completion::Kind::kReceive, fits ? Completion::Status::kOk : Completion::Status::kLocalError,
            q.handle, r.id, static_cast<uint32_t>(prefix + q.received), 0});
  q.receives.pop_front();
}

// IBA 9.8.2: no answers; whatever is wrong is dropped, and the rest of its message with it.
void ModelNic::take_unreliable(Qp& q, const ModelPacket& p) {
  const bool in_sequence = p.first || (q.in_message && p.psn == q.expected);
  q.expected = p.psn + 1;
  if (!in_sequence) {
    ++n_.partial;
    q.in_message = false;
    return;
  }
  q.in_message = true;
  if (!writable(p)) {
    ++n_.bad_key;
    q.in_message = false;
    return;
  }
  if (needs_receive(p) && q.receives.empty()) {
    ++n_.no_receive;
    q.in_message = false;
    // Whether the bytes were written by then is the NIC's affair.
    if (p.op != ModelPacket::Op::kSend && net_.prng().chance(0.5)) write(p);
    return;
  }
  execute(q, p);
  if (p.last) q.in_message = false;
}

}  // namespace matchrdma::host
