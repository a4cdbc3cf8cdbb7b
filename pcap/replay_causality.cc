#include "pcap/replay_causality.h"

#include <algorithm>

namespace matchrdma {

uint32_t read_psns(const Frame& f, uint32_t path_mtu) {
  if (f.opcode() != op::kRcReadReq || path_mtu == 0) return 1;
  // 64 bits: a RETH may ask for up to 2^32 - 1 bytes.
  const uint64_t packets = (uint64_t{f.reth_length()} + path_mtu - 1) / path_mtu;
  return static_cast<uint32_t>(std::max<uint64_t>(1, packets));
}

Causality::Causality(const TraceFlows& flows) : flows_(flows), state_(flows.streams().size()) {
  for (size_t i = 0; i < state_.size(); ++i) {
    Flow& f = state_[i];
    f.captured_near = f.delivered_near = f.forgotten = flows.streams()[i].first;
  }
}

uint32_t Causality::response_psns(int stream, const Frame& f) const {
  return read_psns(f, flows_.streams()[static_cast<size_t>(stream)].path_mtu);
}

Dependency Causality::captured(const PacketView& v, Instant time) {
  if (v.request()) {
    captured_request(v, time);
  } else if (v.answer()) {
    return captured_answer(v, time);
  } else if (v.stream >= 0 && !v.bad_icrc) {
    return captured_cm(v, time);
  }
  return {};
}

void Causality::captured_request(const PacketView& v, Instant time) {
  Flow& f = state_[static_cast<size_t>(v.stream)];
  if (flows_.streams()[static_cast<size_t>(v.stream)].partner < 0) return;  // nobody will ask
  const Seq seq = place_psn(v.frame().psn(), f.captured_near);
  f.captured_near = std::max(f.captured_near, seq);
  f.newest = seq;
  f.any = true;
  CapturedRequest& r = f.captured.at(seq);
  r.time = time;
  if (f.captured.size() > kRemembered) f.captured.pop_front();
  if (!v.read_request()) return;
  CapturedRequest& read = f.reads.at(seq);
  read.time = time;
  read.psns = std::max(read.copies == 0 ? 1u : read.psns, response_psns(v.stream, v.frame()));
  ++read.copies;
  if (f.reads.size() > kRemembered / 16) f.reads.pop_front();
}

Dependency Causality::captured_answer(const PacketView& v, Instant time) {
  Dependency d;
  const int stream = flows_.streams()[static_cast<size_t>(v.stream)].partner;
  if (stream < 0) return d;
  Flow& f = state_[static_cast<size_t>(stream)];
  if (!f.any) return d;
  const Seq psn = unwrap24(v.frame().psn().v, f.captured_near);
  d.stream = stream;
  if (v.data_response()) {
    // Of overlapping requests (a retry for the rest of a READ) the one captured last is answered.
    const CapturedRequest* best = nullptr;
    Seq best_seq = 0;
    auto* slot = f.reads.at_or_below(psn);
    for (int i = 0; slot != nullptr && i < 64; ++i) {
      if (slot->seq + slot->value.psns > psn && (best == nullptr || slot->value.time > best->time)) {
        best = &slot->value;
        best_seq = slot->seq;
      }
      slot = f.reads.at_or_below(slot->seq - 1);
    }
    if (best == nullptr) return {};
    d.kind = Dependency::Kind::kReadCopy;
    d.seq = best_seq;
    d.copy = best->copies - 1;
    d.turnaround = std::max(Duration{}, time - best->time);
    trim(f, best_seq);
    return d;
  }
  const bool nak = !v.positive_ack() && (v.frame().aeth_syndrome() & 0x60) == kAethNak;
  auto* slot = f.captured.at_or_below(nak ? f.newest : psn);
  if (slot == nullptr) return {};
  d.kind = Dependency::Kind::kRequest;
  d.seq = slot->seq;
  d.turnaround = std::max(Duration{}, time - slot->value.time);
  trim(f, std::min(psn, slot->seq));
  return d;
}

Dependency Causality::captured_cm(const PacketView& v, Instant time) {
  Dependency d;
  const auto mad = parse_cm_mad(v.frame());
  if (!mad) return d;
  const IpAddress from = v.frame().source(), to = v.frame().destination();
  if (mad->answers()) {
    if (const auto it = cm_captured_.find({to, mad->remote_id}); it != cm_captured_.end()) {
      d.kind = Dependency::Kind::kCm;
      d.cm = {to, mad->remote_id, it->second.first};
      d.turnaround = std::max(Duration{}, time - it->second.second);
    }
  }
  cm_captured_[{from, mad->local_id}] = {mad->attribute, time};
  return d;
}

// Below `answered` nothing is asked for any more but by a late retransmission.
void Causality::trim(Flow& f, Seq answered) {
  while (f.captured.size() > 1 && f.captured.front().seq < answered - kSlack) f.captured.pop_front();
  while (f.reads.size() > 1 && f.reads.front().seq < answered - kSlack) f.reads.pop_front();
}

void Causality::delivered(const PacketView& v, Instant now) {
  if (v.stream < 0 || v.bad_icrc) return;
  if (!v.rc) {
    if (const auto mad = parse_cm_mad(v.frame()))
      cm_delivered_.try_emplace({v.frame().source(), mad->local_id, mad->attribute}, now);
    return;
  }
  if (!v.request() || flows_.streams()[static_cast<size_t>(v.stream)].partner < 0) return;
  Flow& f = state_[static_cast<size_t>(v.stream)];
  const Seq seq = place_psn(v.frame().psn(), f.delivered_near);
  f.delivered_near = std::max(f.delivered_near, seq);
  if (v.read_request()) {
    f.read_deliveries.at(seq).push_back(now);
    if (f.read_deliveries.size() > kRemembered / 16) f.read_deliveries.pop_front();
  }
  if (seq < f.forgotten || f.first_delivery.find(seq) != nullptr) return;
  f.first_delivery.at(seq) = now;
  if (f.first_delivery.size() > kRemembered) {
    f.forgotten = f.first_delivery.front().seq + 1;
    f.first_delivery.pop_front();
  }
}

std::optional<Instant> Causality::fulfilled(const Dependency& d) {
  switch (d.kind) {
    case Dependency::Kind::kNone:
      return Instant{};
    case Dependency::Kind::kCm: {
      const auto it = cm_delivered_.find(d.cm);
      if (it == cm_delivered_.end()) return std::nullopt;
      return it->second;
    }
    case Dependency::Kind::kReadCopy: {
      Flow& f = state_[static_cast<size_t>(d.stream)];
      const auto* times = f.read_deliveries.find(d.seq);
      if (times != nullptr && times->size() > d.copy) return (*times)[d.copy];
      if (!f.read_deliveries.empty() && d.seq < f.read_deliveries.front().seq &&
          f.read_deliveries.size() >= kRemembered / 16)
        return Instant{};
      return std::nullopt;
    }
    case Dependency::Kind::kRequest: {
      Flow& f = state_[static_cast<size_t>(d.stream)];
      if (d.seq < f.forgotten) return Instant{};
      const Instant* t = f.first_delivery.find(d.seq);
      if (t == nullptr) return std::nullopt;
      const Instant at = *t;
      while (f.first_delivery.front().seq < d.seq - kSlack) {
        f.forgotten = f.first_delivery.front().seq + 1;
        f.first_delivery.pop_front();
      }
      return at;
    }
  }
  return std::nullopt;
}

}  // namespace matchrdma
