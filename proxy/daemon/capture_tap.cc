#include "proxy/daemon/capture_tap.h"

#include <algorithm>
#include <utility>

namespace matchrdma::daemon {

void CaptureTap::offer(TappedPacket p) {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= kRoomPackets || waiting_bytes_ + p.bytes.size() > kRoomBytes) {
    ++missed_;
    return;
  }
  waiting_bytes_ += p.bytes.size();
  waiting_.push_back(std::move(p));
}

std::vector<TappedPacket> CaptureTap::take(uint64_t& missed) {
  const std::lock_guard lock(mutex_);
  missed += std::exchange(missed_, 0);
  waiting_bytes_ = 0;
  return std::exchange(waiting_, {});
}

// A flow's own packets carry its key; the answers go to its sender's QPN, which the shard may know.
bool SpanCapture::chosen(Bytes frame, const Shard& shard) const {
  if (tap_->what().flows.empty()) return false;
  const ParseResult r = parse_frame(frame);
  if (r.kind != ParseKind::kRoce) return false;
  const FlowKey key = FlowKey::of(r.frame, 0);
  for (FlowKey wanted : tap_->what().flows) {
    if (wanted.vlan_outer == 0) {
      wanted.vlan_outer = key.vlan_outer;
      wanted.vlan_inner = key.vlan_inner;
    }
    wanted.port_pair = 0;
    if (wanted == key) return true;
    if (wanted.src != key.dst || wanted.dst != key.src || wanted.vlan_outer != key.vlan_outer) continue;
    const auto flow = shard.flow(wanted);
    if (flow && flow->sender_qpn == key.dst_qpn) return true;
  }
  return false;
}

void SpanCapture::before(std::span<const RxItem> burst, const Shard& shard) {
  arrived_.clear();
  for (const RxItem& item : burst) {
    const Bytes b = item.packet->bytes();
    const bool of_flow = chosen(b, shard);
    if (of_flow || one_by_one()) arrived_.push_back({item.side, {b.begin(), b.end()}, of_flow});
  }
  counted_ = shard.counters().reasons;
}

void SpanCapture::after(const Shard& shard, Instant now) {
  for (Arrived& a : arrived_) {
    const auto met = std::find_if(tap_->what().reasons.begin(), tap_->what().reasons.end(), [&](Reason r) {
      const auto i = static_cast<size_t>(r);
      return shard.counters().reasons.n[i] != counted_.n[i];
    });
    if (met != tap_->what().reasons.end()) {
      const std::string why = kReasonKeys[static_cast<size_t>(*met)];
      tap_->offer({span_, a.side, now, std::move(a.bytes), "in: " + why});
    } else if (a.chosen) {
      tap_->offer({span_, a.side, now, std::move(a.bytes), "in"});
    }
  }
  arrived_.clear();
}

void SpanCapture::leaves(const OutItem& item, const Shard& shard, Instant now) {
  if (!chosen(item.packet->bytes(), shard)) return;
  const Bytes b = item.packet->bytes();
  tap_->offer({span_, item.side, now, {b.begin(), b.end()}, std::string("out: ") + cause_key(item.cause)});
}

}  // namespace matchrdma::daemon
