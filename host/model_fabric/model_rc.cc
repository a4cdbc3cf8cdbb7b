// The reliable service: go-back-N (IBA 9.7).
#include <algorithm>
#include <utility>

#include "host/model_fabric/model_net.h"
#include "host/model_fabric/model_nic.h"
#include "host/model_fabric/model_qp.h"

namespace matchrdma::host {
namespace {

constexpr Duration kRnrWait = Duration::millis(1);
constexpr uint32_t kAnswerBytes = 62;  // of a frame with an ACK
constexpr int64_t kAckEvery = 16;      // packets: an ACK in the middle of long messages

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
    const auto it = std::find_if(qps_.begin(), qps_.end(), [q](const auto& each) { return each.get() == q; });
    const QpHandle handle{static_cast<uint32_t>(it - qps_.begin())};
    if (!q->posted.empty()) {
      complete({Completion::Kind::kSend, Completion::Status::kRetryExceeded, handle,
                q->posted.front().request.id, 0, 0});
      q->posted.pop_front();
    }
    fail_qp(handle);
    return;
  }
  --q->retries_left;
  q->psn_next = q->psn_acked;
  arm_timer(*q);
  pump();
}

void ModelNic::answered(Qp& q, const ModelPacket& p) {
  if (q.unreliable()) return;
  const int64_t acked_below = p.kind == ModelPacket::Kind::kAck ? p.psn + 1 : p.psn;
  if (acked_below > q.psn_sent) return;
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
        net_.at(q.rnr_until, [this] { pump(); });
      }
      break;
    case ModelPacket::Kind::kAccessNak: {
      const auto it =
          std::find_if(qps_.begin(), qps_.end(), [&q](const auto& each) { return each.get() == &q; });
      const QpHandle handle{static_cast<uint32_t>(it - qps_.begin())};
      if (!q.posted.empty()) {
        complete({Completion::Kind::kSend, Completion::Status::kRemoteAccess, handle,
                  q.posted.front().request.id, 0, 0});
        q.posted.pop_front();
      }
      fail_qp(handle);
      return;
    }
    default:
      break;
  }
  pump();
}

// ---- responder

void ModelNic::answer(Qp& q, ModelPacket::Kind kind, int64_t psn) {
  ModelPacket a;
  a.kind = kind;
  a.to_qpn = q.peer.qpn;
  a.from_qpn = q.qpn;
  a.psn = psn;
  a.session = q.psn;
  net_.transmit(index_, std::move(a), kAnswerBytes);
}

void ModelNic::take_reliable(Qp& q, const ModelPacket& p) {
  if (p.psn < q.expected) {  // a duplicate is answered and not executed again
    answer(q, ModelPacket::Kind::kAck, q.expected - 1);
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
    q.state = Qp::State::kError;
    return;
  }
  if (needs_receive(p) && q.receives.empty()) {
    ++n_.no_receive;
    answer(q, ModelPacket::Kind::kRnrNak, p.psn);
    q.nak_sent = true;
    return;
  }
  ++q.expected;
  q.nak_sent = false;
  execute(q, p);
  if (p.last || q.expected % kAckEvery == 0) answer(q, ModelPacket::Kind::kAck, p.psn);
}

}  // namespace matchrdma::host
