#include "host/model_fabric/custody.h"

#include <algorithm>
#include <utility>

#include "host/model_fabric/model_net.h"
#include "host/model_fabric/model_nic.h"

namespace matchrdma::host {
namespace {

constexpr Duration kNear = Duration::micros(5);  // from the NIC to its proxy and back
constexpr Duration kPatience = Duration::seconds(60);
constexpr Duration kRnrWait = Duration::millis(1);
constexpr int64_t kAckEvery = 16;  // packets

bool is_atomic(const ModelPacket& p) { return p.op == ModelPacket::Op::kAtomic; }

}  // namespace

void ModelCustody::take(ModelPacket p, uint32_t bytes) {
  const Key key{p.from_qpn, p.session};
  Flow& f = flows_[key];
  f.to_qpn = p.to_qpn;
  if (p.psn > f.expected) {
    if (!f.nak_sent) answer(key, f, ModelPacket::Kind::kSequenceNak, f.expected);
    f.nak_sent = true;
    return;
  }
  f.nak_sent = false;
  const bool says = p.last || p.psn % kAckEvery == 0 || p.psn < f.expected;
  if (p.psn == f.expected) {
    ++f.expected;
    if (f.held.empty()) f.last_progress = net_.now();
    f.held.push_back({p, bytes});
    net_.cross(from_, std::move(p), bytes);
    arm(key, f);
  }
  if (says) tell(key, f);
}

// Nothing from the first atomic on is acknowledged before the far end has done it.
void ModelCustody::tell(const Key& key, Flow& f) {
  const auto atomic =
      std::find_if(f.held.begin(), f.held.end(), [](const Held& h) { return is_atomic(h.packet); });
  f.told_below = std::max(f.told_below, f.delivered_below + (atomic - f.held.begin()));
  if (f.told_below > 0) answer(key, f, ModelPacket::Kind::kAck, f.told_below - 1);
}

void ModelCustody::answer(const Key& key, const Flow& f, ModelPacket::Kind kind, int64_t psn) {
  ModelPacket a;
  a.kind = kind;
  a.to_qpn = key.first;
  a.from_qpn = f.to_qpn;
  a.path = path_;
  a.psn = psn;
  a.session = key.second;
  net_.at(net_.now() + kNear, [this, a] { net_.nic(from_).arrive(a); });
}

void ModelCustody::confirm(const Key& key, Flow& f, int64_t below, int64_t answered) {
  const bool ceiling_rises = below > f.told_below;
  for (; f.delivered_below < below && !f.held.empty(); ++f.delivered_below) {
    // An acknowledgement that passed an atomic's lost answer says nothing about the answer.
    if (is_atomic(f.held.front().packet) && f.delivered_below != answered) break;
    f.held.pop_front();
    f.last_progress = net_.now();
  }
  if (ceiling_rises) tell(key, f);
}

void ModelCustody::send_again(const Key& key, Flow& f) {
  for (const Held& h : f.held) net_.cross(from_, h.packet, h.bytes);
  arm(key, f);
}

void ModelCustody::arm(const Key& key, Flow& f) {
  const Duration wait = net_.path(from_, path_).delay * 4 + Duration::millis(2);
  net_.at(net_.now() + wait, [this, key, version = ++f.timer] {
    const auto it = flows_.find(key);
    if (it == flows_.end() || it->second.timer != version || it->second.held.empty()) return;
    if (net_.now() - it->second.last_progress > kPatience) {
      flows_.erase(it);
      return;
    }
    send_again(key, it->second);
  });
}

bool ModelCustody::takes_answer(const ModelPacket& p) {
  if (p.kind == ModelPacket::Kind::kRequest) return false;
  const Key key{p.to_qpn, p.session};
  const auto it = flows_.find(key);
  if (it == flows_.end()) return false;
  Flow& f = it->second;
  switch (p.kind) {
    case ModelPacket::Kind::kAck:
      confirm(key, f, p.psn + 1);
      return true;
    case ModelPacket::Kind::kSequenceNak:
      confirm(key, f, p.psn);
      send_again(key, f);
      return true;
    case ModelPacket::Kind::kRnrNak:
      confirm(key, f, p.psn);
      net_.at(net_.now() + kRnrWait, [this, key] {
        if (const auto again = flows_.find(key); again != flows_.end()) send_again(key, again->second);
      });
      return true;
    case ModelPacket::Kind::kAtomicAnswer:
      confirm(key, f, p.psn + 1, p.psn);
      return false;
    default:  // the access was refused: there is nobody to deliver the rest to
      flows_.erase(it);
      return false;
  }
}

void ModelCustody::drop(uint32_t qpn) {
  std::erase_if(flows_, [qpn](const auto& each) { return each.first.first == qpn; });
}

}  // namespace matchrdma::host
