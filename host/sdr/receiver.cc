#include "host/sdr/receiver.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "dataplane/base/check.h"
#include "host/sdr/spread.h"

namespace matchrdma::host {
namespace {

constexpr uint32_t kAckPackets = 64;  ///< new packets between two ACKs, unless time is up before
constexpr Duration kLeastPause = Duration::micros(20), kMostPause = Duration::millis(5);

}  // namespace

struct SdrReceiver::Message {
  uint64_t number = 0;
  MutableBytes buffer;          ///< the application's
  std::vector<uint8_t> own;     ///< tier C, or with the transform: where the packets go
  std::vector<uint8_t> parity;  ///< where parity packets go
  Grant grant;
  Region region, parity_region;
  bool open = false;               ///< its keys are good
  std::optional<ParitySink> sink;  ///< coded, once the length is known
  std::optional<uint64_t> length;  ///< as the sender told
  uint32_t packets = 0;            ///< then: of data
  bool all_sent = false, done = false;
  bool touched = false;  ///< packets came since it was looked at
  Instant all_sent_at, last_packet;
  Instant ack_at = Instant::never();
  uint32_t packets_at_ack = 0;

  /// When something was last heard of it: a packet, or that all were sent.
  Instant newest() const { return later(last_packet, all_sent_at); }
};

SdrReceiver::SdrReceiver(const SdrShape& shape, const ReceiverOptions& options, Nic& nic)
    : shape_(shape), options_(options), nic_(nic), slots_(shape.layout, options.slots), code_(code_of(shape)) {}

SdrReceiver::~SdrReceiver() {
  for (auto& [number, m] : messages_) close(*m);
}

SdrReceiver::Message* SdrReceiver::find(uint64_t number) {
  const auto it = messages_.find(number);
  return it == messages_.end() ? nullptr : it->second.get();
}

size_t SdrReceiver::under_way() const {
  return static_cast<size_t>(
      std::count_if(messages_.begin(), messages_.end(), [](const auto& each) { return !each.second->done; }));
}

const PacketSet* SdrReceiver::bitmap(uint64_t message) const {
  const auto it = messages_.find(message);
  return it == messages_.end() ? nullptr : &slots_.packets(it->second->grant.data.slot);
}

Result<std::optional<uint64_t>> SdrReceiver::receive_post(MutableBytes buffer, Instant now) {
  if (buffer.empty()) return Error{"a receive buffer needs at least one byte"};
  const uint64_t parity = shape_.coded() ? parity_bytes(shape_, buffer.size()) : 0;
  const uint64_t wire = wire_bytes(shape_, buffer.size());
  const uint64_t packets = shape_.packets_of(std::max(wire, parity));
  if (packets > (uint64_t{1} << shape_.layout.index_bits))
    return Error{"a receive buffer of " + std::to_string(buffer.size()) +
                 " bytes, or its parity, is more than " +
                 std::to_string(uint64_t{1} << shape_.layout.index_bits) + " packets of " +
                 std::to_string(shape_.packet_bytes) + " bytes, which this connection was made for"};
  const Duration rest{std::max(options_.generation_rest.ns, 2 * round_trip_.ns)};
  if (slots_.free_slots(now, rest) < (shape_.coded() ? 2 : 1)) return std::optional<uint64_t>{};
  auto m = std::make_unique<Message>();
  m->number = next_message_;
  m->buffer = buffer;
  m->last_packet = now;
  if (own_memory()) {
    if (!spare_.empty()) {
      m->own = std::move(spare_.back());
      spare_.pop_back();
    }
    m->own.resize(std::max(options_.slot_bytes, wire));
  }
  m->parity.resize(parity);
  if (auto r = open(*m, now); !r) return Error{r.error()};
  messages_[next_message_] = std::move(m);
  state_at_ = now;
  return std::optional<uint64_t>{next_message_++};
}

// Keys first: a slot without one is never granted.
Result<void> SdrReceiver::open(Message& m, Instant now) {
  const Duration rest{std::max(options_.generation_rest.ns, 2 * round_trip_.ns)};
  const uint64_t wire = wire_bytes(shape_, m.buffer.size());
  const auto grant = [&](const Region& region, uint64_t bytes, uint64_t on_wire) {
    const auto tag = slots_.take(static_cast<uint32_t>(shape_.packets_of(on_wire)), shape_.chunk_packets,
                                 m.number, now, rest);
    MRDMA_CHECK(tag.has_value());
    return GrantedPart{static_cast<uint16_t>(tag->slot), static_cast<uint16_t>(tag->generation), region.rkey,
                       region.remote, bytes};
  };
  auto region = nic_.add_region(memory(m).first(wire), Access::kRemoteWrite);
  if (!region) return Error{region.error()};
  m.region = *region;
  if (shape_.coded()) {
    auto parity = nic_.add_region(m.parity, Access::kRemoteWrite);
    if (!parity) {
      nic_.remove_region(m.region);
      return Error{parity.error()};
    }
    m.parity_region = *parity;
    m.grant.parity = grant(m.parity_region, m.parity.size(), m.parity.size());
  }
  m.grant.message = m.number;
  m.grant.data = grant(m.region, m.buffer.size(), wire);
  m.grant.seed = spread_seed(options_.seed, shape_.epoch, m.number);
  m.open = true;
  return {};
}

MutableBytes SdrReceiver::memory(Message& m) const { return own_memory() ? MutableBytes(m.own) : m.buffer; }

void SdrReceiver::close(Message& m) {
  if (!m.open) return;
  m.open = false;
  nic_.remove_region(m.region);
  if (shape_.coded()) nic_.remove_region(m.parity_region);
}

void SdrReceiver::on_packet(uint32_t immediate, Instant now) {
  const SlotTable::Found found = slots_.book(immediate);
  if (found.what == SlotTable::Booked::kStale) {
    ++n_.stale;
    return;
  }
  if (newest_ == nullptr || newest_->number != found.owner) newest_ = find(found.owner);
  MRDMA_CHECK(newest_ != nullptr);  // a slot in use has its message
  newest_->last_packet = now;
  if (found.what == SlotTable::Booked::kAgain) {
    ++n_.duplicates;
    return;
  }
  ++n_.packets;
  if (newest_->sink) {
    const bool parity = found.slot == newest_->grant.parity.slot;
    parity ? newest_->sink->parity_came(found.index) : newest_->sink->data_came(found.index);
  }
  newest_->touched = true;
}

// From now on it is known which packets belong to which codeword; those that came before are counted now.
void SdrReceiver::learn_length(Message& m, uint64_t length) {
  m.length = length;
  m.packets = static_cast<uint32_t>(shape_.packets_of(wire_bytes(shape_, length)));
  if (!shape_.coded() || length == 0) return;
  m.sink.emplace(shape_, length, memory(m), m.parity);
  const PacketSet& data = slots_.packets(m.grant.data.slot);
  const PacketSet& parity = slots_.packets(m.grant.parity.slot);
  for (uint32_t p = 0; p < data.end(); ++p)
    if (data.has(p)) m.sink->data_came(p);
  for (uint32_t p = 0; p < parity.end(); ++p)
    if (parity.has(p)) m.sink->parity_came(p);
}

void SdrReceiver::decode(Message& m) {
  restored_.clear();
  m.sink->decode(*code_, slots_.packets(m.grant.data.slot), slots_.packets(m.grant.parity.slot), restored_);
  for (const uint32_t p : restored_) slots_.restored(m.grant.data.slot, p);
  n_.decoded_packets += restored_.size();
}

// Whether it is whole, and when to speak of it.
void SdrReceiver::look(Message& m, Instant now) {
  m.touched = false;
  if (m.done) return;
  if (m.sink) decode(m);
  const PacketSet& there = slots_.packets(m.grant.data.slot);
  const uint32_t needs = m.length ? m.packets : UINT32_MAX;
  if (there.count() >= needs && there.first_missing() >= needs) {
    finish(m, now);
    return;
  }
  const bool many = there.count() >= m.packets_at_ack + kAckPackets;
  m.ack_at = earlier(m.ack_at, many ? now : now + ack_every());
}

// The order matters: no key, then the bytes, then the application.
void SdrReceiver::finish(Message& m, Instant now) {
  close(m);
  ReceiveDone d{m.number, *m.length, {}};
  const PacketSet& there = slots_.packets(m.grant.data.slot);
  const uint64_t wire = wire_bytes(shape_, *m.length);
  if (shape_.hadamard) {
    Spread(shape_, *m.length).decode(Bytes(m.own).first(wire), there, m.grant.seed, m.buffer.first(*m.length));
  } else if (options_.copy) {
    std::memcpy(m.buffer.data(), m.own.data(), *m.length);
  }
  if (own_memory()) spare_.push_back(std::move(m.own));
  for (uint32_t p = 0; p < m.packets; ++p) {
    if (there.has(p)) continue;
    const uint64_t at = uint64_t{p} * shape_.packet_bytes;
    const uint64_t bytes = std::min<uint64_t>(shape_.packet_bytes, wire - at);
    if (!shape_.hadamard) std::memset(m.buffer.data() + at, 0, bytes);
    if (!d.missing.empty() && d.missing.back().offset + d.missing.back().length == at) {
      d.missing.back().length += bytes;
    } else {
      d.missing.push_back({at, bytes});
    }
  }
  m.done = true;
  m.ack_at = now;
  done_.push_back(std::move(d));
}

std::optional<ReceiveDone> SdrReceiver::take_done() {
  if (done_.empty()) return {};
  ReceiveDone d = std::move(done_.front());
  done_.pop_front();
  return d;
}

void SdrReceiver::on_state(const SenderState& s, Instant now) {
  heard_sent_ = s.now;
  heard_at_ = now;
  round_trip_ = s.round_trip;
  granted_below_ = std::max(granted_below_, s.granted_below);
  for (const SenderState::Entry& e : s.entries) {
    if (e.message < finished_below_) state_at_ = earlier(state_at_, now);  // it does not know yet
    Message* m = find(e.message);
    if (m == nullptr) continue;
    // A message that is longer than its buffer is the sender's fault; what it posts beyond has no key.
    if (!m->length && e.length <= m->buffer.size()) learn_length(*m, e.length);
    if (e.all_sent && !m->all_sent) {
      m->all_sent = true;
      m->all_sent_at = now;
    }
    if (e.fin && m->done) {
      slots_.give_back(m->grant.data.slot, now);
      if (shape_.coded()) slots_.give_back(m->grant.parity.slot, now);
      if (newest_ == m) newest_ = nullptr;
      messages_.erase(e.message);
      finished_below_ = messages_.empty() ? next_message_ : messages_.begin()->first;
      state_at_ = now;
      continue;
    }
    look(*m, now);
    m->ack_at = m->all_sent || m->done
                    ? earlier(m->ack_at, later(now, m->last_packet + options_.reorder_margin))
                    : m->ack_at;
  }
}

// What lies behind the highest packet may be under way. Once the sender has sent all and nothing came for a
// while, nothing is.
uint32_t SdrReceiver::judged_below(const Message& m, Instant now) const {
  if (options_.give_up.ns != 0) return 0;  // nobody repairs
  const bool quiet = now >= m.newest() + options_.reorder_margin;
  if (m.all_sent && m.length && quiet) return m.packets;
  if (shape_.coded()) return m.sink ? m.sink->judged_below() : 0;
  return slots_.packets(m.grant.data.slot).end();
}

Echo SdrReceiver::echo(Instant now) const {
  return heard_sent_.is_never() ? Echo{Instant::never(), {}} : Echo{heard_sent_, now - heard_at_};
}

Duration SdrReceiver::ack_every() const {
  return Duration{std::clamp(round_trip_.ns / 16, kLeastPause.ns, kMostPause.ns)};
}

void SdrReceiver::say_acks(Message& m, Instant now, std::vector<Signal>& out) {
  m.ack_at = Instant::never();
  const PacketSet& there = slots_.packets(m.grant.data.slot);
  m.packets_at_ack = there.count();
  Ack a;
  a.echo = echo(now);
  a.message = m.number;
  a.received = there.count();
  a.done = m.done;
  a.judged_below = judged_below(m, now);
  const auto most = static_cast<uint32_t>(shape_.datagram_bytes - kSignalHeader) * 8;
  const uint32_t begin = m.done ? there.size() : there.first_missing() / 8 * 8;
  const uint32_t end = m.done ? begin : std::max(a.judged_below, there.end());
  a.from = a.whole_below = begin;
  do {
    const uint32_t stop = std::min(end, a.from + most);
    a.bits.assign((stop - a.from + 7) / 8, 0);
    for (uint32_t p = a.from; p < stop; ++p)
      if (there.has(p)) a.bits[(p - a.from) / 8] |= static_cast<uint8_t>(1u << ((p - a.from) % 8));
    out.emplace_back(a);
    ++n_.acks;
    a.from = stop;
  } while (a.from < end);
}

void SdrReceiver::say_state(Instant now, std::vector<Signal>& out) {
  ReceiverState s{echo(now), finished_below_, {}};
  const size_t most = (shape_.datagram_bytes - kSignalHeader) / kGrantBytes;
  bool open = false;
  for (const auto& [number, m] : messages_) {
    if (number < granted_below_) continue;
    open = true;
    s.grants.push_back(m->grant);
    if (s.grants.size() < most) continue;
    out.emplace_back(s);
    s.grants.clear();
  }
  if (!open || !s.grants.empty()) out.emplace_back(std::move(s));
  // Until the sender knows them.
  state_at_ = open ? now + Duration{std::max(round_trip_.ns, kMostPause.ns)} : Instant::never();
}

Instant SdrReceiver::gives_up_at(const Message& m) const {
  const bool may = options_.give_up.ns != 0 && !m.done && m.all_sent && m.length;
  return may ? m.newest() + options_.give_up : Instant::never();
}

void SdrReceiver::poll(Instant now, std::vector<Signal>& out) {
  for (auto& [number, m] : messages_) {
    if (m->touched) look(*m, now);
    if (gives_up_at(*m) <= now) finish(*m, now);
    if (m->ack_at <= now) say_acks(*m, now, out);
  }
  if (state_at_ <= now) say_state(now, out);
}

Instant SdrReceiver::next_wakeup() const {
  Instant at = state_at_;
  for (const auto& [number, m] : messages_) {
    at = earlier(at, earlier(m->ack_at, gives_up_at(*m)));
  }
  return at;
}

}  // namespace matchrdma::host
