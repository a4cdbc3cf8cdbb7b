// The reliable service: go-back-N (IBA 9.7).
#include <algorithm>
#include <cstring>
#include <utility>

#include "host/model_fabric/model_net.h"
#include "host/model_fabric/model_nic.h"
#include "host/model_fabric/model_qp.h"

namespace matchrdma::host {
namespace {

constexpr Duration kRnrWait = Duration::millis(1);
constexpr uint32_t kAnswerBytes = 62;  // of a frame with an ACK
constexpr size_t kAtomicsKept = 64;
constexpr int64_t kAckEvery = 16;  // packets: an ACK in the middle of long messages

}  // namespace

// ---- requester

void ModelNic::arm_timer(Qp& q) {
  const uint64_t version = ++q.timer;
  const Duration timeout{int64_t{4096} << q.connection.timeout_exponent};
  net_.at(net_.now() + timeout, [this, qpn = q.qpn, version] { on_timer(qpn, version); });
}

void ModelNic::on_timer(uint32_t qpn, uint64_t version) {
  Qp* q = find_qpn(qpn);
  if (q == nullptr || q->timer != version || q->state != Qp::State::kReady || q->psn_acked >= q->psn_sent)
    return;
  if (q->retries_left == 0) {
    return fail_request(*q, Completion::Status::kRetryExceeded);
  }
  --q->retries_left;
  q->psn_next = q->psn_acked;
  arm_timer(*q);
  pump(q->connection.path);
}

void ModelNic::answered(Qp& q, const ModelPacket& p) {
  if (q.unreliable()) return;
  const bool acknowledges = p.kind == ModelPacket::Kind::kAck || p.kind == ModelPacket::Kind::kAtomicAnswer;
  int64_t acked_below = acknowledges ? p.psn + 1 : p.psn;
  if (acked_below > q.psn_sent) return;
  // What passes an atomic without its answer tells that the answer was lost (IBA 9.7.5.1.6).
  const auto unanswered = std::find_if(q.posted.begin(), q.posted.end(),
                                       [](const Qp::Posted& each) { return each.request.atomic(); });
  if (unanswered != q.posted.end() && unanswered->first_psn < acked_below) {
    const int64_t psn = unanswered->first_psn;
    if (p.kind == ModelPacket::Kind::kAtomicAnswer && p.psn == psn) {
      std::copy(p.payload.begin(), p.payload.end(), unanswered->request.result.begin());
    } else {
      acked_below = psn;
      q.psn_next = std::min(q.psn_next, psn);
    }
  }
  if (acked_below > q.psn_acked) {
    q.psn_acked = acked_below;
    q.psn_next = std::max(q.psn_next, acked_below);
    q.retries_left = q.connection.retries;
    retire(q, acked_below);
    if (q.psn_acked < q.psn_sent) arm_timer(q);
  }
  switch (p.kind) {
    case ModelPacket::Kind::kSequenceNak:
      if (p.psn >= q.psn_acked) q.psn_next = p.psn;
      break;
    case ModelPacket::Kind::kRnrNak:
      if (p.psn >= q.psn_acked) {
        q.psn_next = p.psn;
        q.rnr_until = net_.now() + kRnrWait;
        arm_timer(q);
        net_.at(q.rnr_until, [this, path = q.connection.path] { pump(path); });
      }
      break;
    case ModelPacket::Kind::kAccessNak:
      return fail_request(q, Completion::Status::kRemoteAccess);
    default:
      break;
  }
  pump(q.connection.path);
}

// ---- responder

void ModelNic::answer(Qp& q, ModelPacket::Kind kind, int64_t psn, std::vector<uint8_t> payload) {
  ModelPacket a;
  a.payload = std::move(payload);
  a.kind = kind;
  a.to_qpn = q.peer.qpn;
  a.from_qpn = q.qpn;
  a.psn = psn;
  a.path = q.connection.path;
  a.session = q.peer.psn;
  net_.transmit(index_, std::move(a), kAnswerBytes);
}

void ModelNic::take_reliable(Qp& q, const ModelPacket& p) {
  if (p.psn < q.expected) {  // a duplicate is answered and not executed again
    if (const auto known = q.atomic_answers.find(p.psn); known != q.atomic_answers.end()) {
      answer(q, ModelPacket::Kind::kAtomicAnswer, p.psn, known->second);
    } else {
      answer(q, ModelPacket::Kind::kAck, q.expected - 1);
    }
    return;
  }
  if (p.psn > q.expected) {
    if (!q.nak_sent) answer(q, ModelPacket::Kind::kSequenceNak, q.expected);
    q.nak_sent = true;
    return;
  }
  if (!writable(p)) {
    ++n_.bad_key;
    answer(q, ModelPacket::Kind::kAccessNak, p.psn);
    return fail(q);
  }
  if (needs_receive(p) && q.receives.empty()) {
    ++n_.no_receive;
    answer(q, ModelPacket::Kind::kRnrNak, p.psn);
    q.nak_sent = true;
    return;
  }
  ++q.expected;
  q.nak_sent = false;
  if (p.op == ModelPacket::Op::kAtomic) return take_atomic(q, p);
  execute(q, p);
  if (p.last || q.expected % kAckEvery == 0) answer(q, ModelPacket::Kind::kAck, p.psn);
}

void ModelNic::take_atomic(Qp& q, const ModelPacket& p) {
  end_torn_writes();
  uint8_t* const place = memory_.at(p.rkey).bytes.data() + p.remote;
  uint64_t value = 0;
  std::memcpy(&value, place, sizeof value);
  std::vector<uint8_t> before(place, place + sizeof value);
  if (!p.compares) {
    value += p.add_or_compare;
  } else if (value == p.add_or_compare) {
    value = p.swap;
  }
  std::memcpy(place, &value, sizeof value);
  q.atomic_answers[p.psn] = before;
  if (q.atomic_answers.size() > kAtomicsKept) q.atomic_answers.erase(q.atomic_answers.begin());
  answer(q, ModelPacket::Kind::kAtomicAnswer, p.psn, std::move(before));
}

}  // namespace matchrdma::host
