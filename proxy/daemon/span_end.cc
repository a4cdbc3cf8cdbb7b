#include "proxy/daemon/span_end.h"

#include <utility>

#include "controlplane/channel/datagram.h"
#include "controlplane/channel/peer_session.h"

namespace matchrdma::daemon {
namespace {

constexpr size_t kBurst = 128;     // packets of one run, of both sides
constexpr size_t kMessages = 512;  // a run is due when more wait
constexpr size_t kInputs = kBurst + 2 * kMessages;
/// A shard without flows asks nothing: somebody must, so that operators see how far the peer is.
constexpr Duration kProbeEvery = Duration::seconds(1);

// IEEE 802.1D 7.12.6: bridges do not forward these group addresses (LACP, STP, LLDP, 802.1X).
bool is_l2_control(Bytes frame) {
  static constexpr std::array<uint8_t, 5> kReserved{0x01, 0x80, 0xc2, 0x00, 0x00};
  return frame.size() >= 6 && std::equal(kReserved.begin(), kReserved.end(), frame.begin()) && frame[5] <= 0x0f;
}

}  // namespace

SpanEnd::SpanEnd(const SpanEndConfig& config, PacketPool& pool, SpanEndHooks hooks)
    : config_(config),
      pool_(pool),
      hooks_(std::move(hooks)),
      shard_(config.shard, pool),
      channel_(config.worker),
      neighbour_(config.neighbour),
      path_(neighbour_.path()),
      out_(kInputs) {
  burst_.reserve(kBurst);
  messages_.reserve(2 * kMessages);
}

bool SpanEnd::take(Side side, PacketRef p) {
  if (config_.drop_l2_control && is_l2_control(p->bytes())) {
    ++n_.l2_dropped;
    return false;
  }
  burst_.push_back({side, std::move(p)});
  return burst_.size() >= kBurst || (capture_ && capture_->one_by_one());
}

bool SpanEnd::from_wan(PacketRef p, Instant now) {
  NeighbourFrame reply;
  if (neighbour_.take(p->bytes(), now, reply) == Neighbour::Verdict::kConsumed) {
    neighbour_frame(reply);
    if (const auto found = neighbour_.path()) path_ = found;
    return false;
  }
  const ControlVerdict v = recognise_control(neighbour_.addresses(), p->bytes());
  switch (v.kind) {
    case ControlVerdict::Kind::kForeign:
      return take(Side::kWan, std::move(p));
    case ControlVerdict::Kind::kBroken:
      ++n_.broken;
      return false;
    case ControlVerdict::Kind::kOurs:
      break;
  }
  return control(v.payload, now);
}

bool SpanEnd::control(Bytes payload, Instant now) {
  if (is_hello(payload)) {
    hooks_.hello(payload);
    return false;
  }
  const auto header = SessionHeader::read(payload);
  if (header && header->worker != config_.worker) {
    hooks_.other_worker(header->worker, payload);
    return false;
  }
  const size_t before = messages_.size();
  channel_.receive(payload, messages_);
  if (messages_.size() > before) last_heard_ = now;
  return messages_.size() >= kMessages || (header && header->queue == Queue::kData);
}

void SpanEnd::run(Instant now) {
  out_.clear();
  if (capture_) capture_->before(burst_, shard_);
  shard_.run_once(burst_, messages_, now, out_);
  if (capture_) capture_->after(shard_, now);
  burst_.clear();
  messages_.clear();
  if (config_.budgets != nullptr) exchange_budgets();
  emit(now);
  NeighbourFrame f;
  while (next_question() <= now && neighbour_.due(now, f)) neighbour_frame(f);
  if (next_probe() > now) return;
  probe_at_ = now + kProbeEvery;
  channel_.send(Probe{now}, *this);
  channel_.flush(*this);
}

void SpanEnd::exchange_budgets() {
  BudgetLane& lane = *config_.budgets;
  if (const std::span<const GroupSlot> closed = shard_.closed_slots(); !closed.empty()) {
    lane.rtt_ns.store(shard_.rtt().ns, std::memory_order_relaxed);
    for (const GroupSlot& s : closed) {
      if (!lane.closed.push(s)) break;
    }
    hooks_.slots_seen(false);
  }
  if (const std::span<const GroupSlot> looked = shard_.looked_slots(); !looked.empty()) {
    for (const GroupSlot& s : looked) {
      if (!lane.looked.push(s)) break;
    }
    hooks_.slots_seen(true);
  }
  ToldBudget told;
  while (lane.budgets.pop(told) && shard_.say_budget(told, out_)) {
  }
}

Instant SpanEnd::next_probe() const {
  return channel_.up() && config_.worker == 0 ? probe_at_ : Instant::never();
}

// One worker asks for all of them.
Instant SpanEnd::next_question() const {
  return config_.worker == 0 ? neighbour_.next_wakeup() : Instant::never();
}

Instant SpanEnd::next_wakeup() const {
  return earlier(earlier(shard_.next_wakeup(), next_question()), next_probe());
}

void SpanEnd::emit(Instant now) {
  if (hooks_.journal) {
    for (const JournalRecord& r : out_.journal()) hooks_.journal(r);
  }
  for (OutItem& item : out_.items()) {
    if (!item.packet) {
      channel_.send(*item.message, *this);
      continue;
    }
    if (capture_) capture_->leaves(item, shard_, now);
    Lanes& lanes = item.side == Side::kLan ? lan_ : wan_;
    if (item.side == Side::kWan) channel_.flush_data(*this);
    (item.priority ? lanes.control : lanes.bulk).push_back(std::move(item.packet));
  }
  channel_.flush(*this);
  out_.clear();
}

void SpanEnd::datagram_out(Queue queue, Bytes udp_payload) {
  if (!path_) {
    ++n_.no_path;
    return;
  }
  PacketRef p = build_control_packet(*path_, udp_payload, pool_);
  if (!p) {
    ++n_.no_buffer;
    return;
  }
  (queue == Queue::kControl ? wan_.control : wan_.bulk).push_back(std::move(p));
}

void SpanEnd::neighbour_frame(const NeighbourFrame& f) {
  if (f.size == 0) return;
  PacketRef p = pool_.alloc(f.size);
  if (!p) {
    ++n_.no_buffer;
    return;
  }
  std::copy(f.bytes().begin(), f.bytes().end(), p->data);
  wan_.control.push_back(std::move(p));
}

void SpanEnd::set_session(const SessionSnapshot& s, bool peer_started, Instant now) {
  channel_.update(s);
  out_.clear();
  shard_.peer_session(peer_started, now, out_);
  emit(now);
}

void SpanEnd::set_policy(std::shared_ptr<const PolicyTable> policy, Instant now) {
  out_.clear();
  shard_.set_policy(policy.get(), now, out_);
  policy_ = std::move(policy);
  emit(now);
}

void SpanEnd::set_tuning(const Timing& timing, const Tuning& tuning, Instant now) {
  out_.clear();
  shard_.set_tuning(timing, tuning, now, out_);
  emit(now);
}

void SpanEnd::poison_journaled(const JournalRecord& r, Instant now) {
  out_.clear();
  shard_.poison_journaled(r, now, out_);
  emit(now);
}

Registered SpanEnd::register_qp(const Registration& r, Instant now) {
  out_.clear();
  const Registered taken = shard_.register_qp(r, true, now, out_);
  emit(now);
  return taken;
}

void SpanEnd::unregister_qp(const Registration& r, Instant now) {
  out_.clear();
  shard_.unregister_qp(r, true, now, out_);
  emit(now);
}

void SpanEnd::drain(bool on, Instant now) {
  out_.clear();
  shard_.drain(on, now, out_);
  emit(now);
}

bool SpanEnd::drain_flow(const FlowKey& key, Instant now) {
  out_.clear();
  const bool known = shard_.drain_flow(key, now, out_);
  emit(now);
  return known;
}

void SpanEnd::drain_flows(const FlowPolicy& transparent, Instant now) {
  out_.clear();
  shard_.drain_flows(transparent, now, out_);
  emit(now);
}

}  // namespace matchrdma::daemon
