// What came in, in steps: what each packet and message waits for from memory comes while the others take their
// step. The header, the table's slot, the key, the flow's record, the flow's own state, what it holds.
#include <algorithm>
#include <utility>

#include "dataplane/base/prefetch.h"
#include "dataplane/shard/impl.h"

namespace matchrdma {
namespace {

// The ICRC reads all of it; a packet is too short for the processor to find out by itself.
void prefetch_payload(const Packet& p) {
  constexpr uint32_t kFirst = 2 * kCacheLine, kMost = 66 * kCacheLine;
  const uint8_t* at = p.data + kFirst;
  const uint8_t* const end = p.data + std::min(p.size, kMost);
#pragma GCC unroll 4
  for (; at < end; at += kCacheLine) prefetch_line(at);
}

/// Of the two kinds of messages that come with every few packets, the flow.
const FlowId* frequent(const Message& m) {
  if (const auto* a = std::get_if<CustodyAck>(&m)) return &a->id;
  if (const auto* a = std::get_if<SentMark>(&m)) return &a->id;
  return nullptr;
}

}  // namespace

void Shard::Impl::on_inputs(std::span<const Message> messages, std::span<RxItem> burst, const RoleCtx& ctx) {
  bool first = true;
  do {
    const auto said = messages.first(std::min(messages.size(), kAhead));
    messages = messages.subspan(said.size());
    // Messages come first; the last of them and the first packets are brought together.
    const auto came = burst.first(messages.empty() ? std::min(burst.size(), kAhead) : 0);
    burst = burst.subspan(came.size());
    bring(said, came);
    if (std::exchange(first, false)) {
      for (size_t i = 0; i < due_count; ++i) prefetch_role(due_flows[i], true);
    }
    const uint64_t version = table.version();
    for (const Message& m : said) on_message(m, ctx);
    for (size_t i = 0; i < came.size(); ++i) prefetch_window(seen[i]);
    for (size_t i = 0; i < came.size(); ++i) prefetch_answered(seen[i]);
    for (size_t i = 0; i < came.size(); ++i) {
      if (i + 1 < came.size() && seen[i + 1].flow != kNoFlow) prefetch_payload(*came[i + 1].packet);
      // Something before it may have made a flow known, or ended one.
      if (table.version() != version) find(seen[i]);
      on_packet(came[i], seen[i], ctx);
    }
  } while (!messages.empty() || !burst.empty());
}

void Shard::Impl::bring(std::span<const Message> messages, std::span<const RxItem> burst) {
  std::array<FlowIndex, kAhead> told;
  for (const RxItem& item : burst) prefetch_line(item.packet.get());
  for (const Message& m : messages) {
    if (const FlowId* id = frequent(m)) ids.prefetch(*id);
  }
  for (const RxItem& item : burst) prefetch_line(item.packet->data);
  for (size_t i = 0; i < messages.size(); ++i) {
    const FlowId* id = frequent(messages[i]);
    told[i] = id == nullptr ? kNoFlow : by_id(*id);
    if (told[i] != kNoFlow) prefetch_line(&records[told[i]]);
  }
  for (size_t i = 0; i < burst.size(); ++i) look_at(burst[i], seen[i]);
  for (size_t i = 0; i < messages.size(); ++i) prefetch_role(told[i], true);
  for (size_t i = 0; i < burst.size(); ++i) table.prefetch_key(seen[i].hash);
  for (size_t i = 0; i < burst.size(); ++i) find(seen[i]);
  for (size_t i = 0; i < messages.size(); ++i) prefetch_oldest(told[i]);
  for (size_t i = 0; i < burst.size(); ++i) aim(seen[i]);
  for (size_t i = 0; i < burst.size(); ++i) prefetch_role(seen[i].target, !seen[i].parsed.frame.info().request);
  for (size_t i = 0; i < messages.size(); ++i) {
    if (const auto* a = std::get_if<CustodyAck>(&messages[i])) prefetch_released(told[i], a->confirmed_end);
  }
}

void Shard::Impl::look_at(const RxItem& item, Seen& s) const {
  s.parsed = parse_frame(item.packet->bytes());
  s.roce = s.parsed.kind == ParseKind::kRoce;
  if (!s.roce) {
    s.hash = 0;
    return;
  }
  s.key = FlowKey::of(s.parsed.frame, 0);
  s.hash = s.key.hash();
  table.prefetch_slot(s.hash);
}

void Shard::Impl::find(Seen& s) const {
  s.flow = s.roce ? table.find(s.key, s.hash) : kNoFlow;
  if (s.flow != kNoFlow) prefetch_line(&records[s.flow]);
}

// An answer carries the sender's QPN, which is the key of the reverse flow.
void Shard::Impl::aim(Seen& s) const {
  s.target = s.flow;
  if (s.flow == kNoFlow || s.parsed.frame.info().request) return;
  s.target = records[s.flow].reverse;
  if (s.target != kNoFlow) prefetch_line(&records[s.target]);
}

void Shard::Impl::prefetch_role(FlowIndex i, bool whole) const {
  if (i == kNoFlow) return;
  const FlowRecord& r = records[i];
  if (r.source) {
    whole ? prefetch_whole(*r.source) : prefetch_plain(*r.source);
  } else if (r.destination) {
    whole ? prefetch_whole(*r.destination) : prefetch_plain(*r.destination);
  }
}

// A request will be kept behind the newest packet of its flow; an answer releases the oldest.
void Shard::Impl::prefetch_window(const Seen& s) const {
  if (s.target == kNoFlow) return;
  if (!s.parsed.frame.info().request) {
    prefetch_oldest(s.target);
    return;
  }
  const FlowRecord& r = records[s.target];
  if (r.source) r.source->window.prefetch_back();
  if (r.destination) r.destination->ring.prefetch_back();
}

void Shard::Impl::prefetch_oldest(FlowIndex i) const {
  constexpr uint64_t kAtOnce = 16;
  if (i == kNoFlow) return;
  if (records[i].source) {
    records[i].source->window.prefetch_front(kAtOnce);
    records[i].source->confirmed.prefetch_back(kAtOnce * sizeof(Confirmed) / kCacheLine);
  }
  if (records[i].destination) records[i].destination->ring.prefetch_front(kAtOnce);
}

// The packets themselves: they were last touched a round trip ago.
void Shard::Impl::prefetch_released(FlowIndex i, Seq end) const {
  if (i == kNoFlow) return;
  const auto below = [&](const auto& ring) {
    for (uint64_t k = ring.begin(); k < ring.end() && ring[k].psn < end; ++k)
      pool.prefetch(ring[k].packet.get());
  };
  if (records[i].source) below(records[i].source->window);
  if (records[i].destination) below(records[i].destination->ring);
}

void Shard::Impl::prefetch_answered(const Seen& s) const {
  if (s.target == kNoFlow || s.parsed.frame.opcode() != op::kRcAck || !records[s.target].destination) return;
  prefetch_released(s.target, unwrap24(s.parsed.frame.psn().v, records[s.target].destination->acked_end) + 1);
}

}  // namespace matchrdma
