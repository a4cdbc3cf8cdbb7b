#include "host/sdr/sender.h"

#include <algorithm>
#include <utility>

#include "dataplane/base/check.h"
#include "host/fabric/header_bytes.h"
#include "host/sdr/spread.h"

namespace matchrdma::host {
namespace {

constexpr uint32_t kBurst = 64;         // packets that may leave at once (C8)
constexpr uint32_t kMostMtu = 4096;     // a longer packet is one that the NIC cuts
constexpr uint64_t kSignalEvery = 32;   // requests that ask for a completion
constexpr uint64_t kLossWindow = 4096;  // packets over which loss is measured
constexpr size_t kGrantsKept = 4096;    // of messages that nobody has sent yet
constexpr Duration kLeastRepeat = Duration::micros(200), kMostRepeat = Duration::millis(20);

}  // namespace

struct SdrSender::Message {
  uint64_t number = 0;
  Bytes data;  ///< the application's
  uint32_t lkey = 0;
  std::optional<Spread> spread;
  std::vector<uint8_t> spread_memory;
  Region spread_region;
  bool transformed = false;
  uint32_t packets = 0;
  std::optional<Grant> grant;
  uint32_t next_new = 0, next_parity = 0, acked_below = 0;
  std::vector<uint8_t> parity_memory;
  Region parity_region;
  std::optional<ParitySource> parity;
  std::vector<int64_t> sent_at;  ///< ns, by packet: its newest copy
  PacketSet acked;
  std::deque<uint32_t> resend;
  std::vector<bool> queued;                ///< by packet: stands in `resend`
  uint64_t last_request = 0;               ///< behind its last one in the data queue pair
  uint64_t all_sent_request = UINT64_MAX;  ///< behind the one that sent its last packet first
  bool acknowledged = false, released = false;

  /// What goes over the wire.
  Bytes wire() const { return transformed ? Bytes(spread_memory) : data; }
  uint32_t wire_lkey() const { return transformed ? spread_region.lkey : lkey; }
  bool all_posted() const { return next_new == packets && (!parity || next_parity == parity->packets()); }
};

SdrSender::SdrSender(const SdrShape& shape, const SenderOptions& options, Nic& nic, QpHandle data_qp,
                     Instant now)
    : shape_(shape),
      options_(options),
      nic_(nic),
      qp_(data_qp),
      code_(code_of(shape)),
      pacer_(options.rate, uint64_t{kBurst} * std::min(shape.packet_bytes, kMostMtu), now),
      rate_(options.rate),
      round_trip_(options.first_round_trip) {}

SdrSender::~SdrSender() {
  for (auto& [number, m] : messages_) forget(*m);
}

void SdrSender::forget(Message& m) {
  if (m.parity) nic_.remove_region(m.parity_region);
  if (m.transformed) nic_.remove_region(m.spread_region);
}

Result<uint64_t> SdrSender::send(Bytes data, uint32_t lkey) {
  auto m = std::make_unique<Message>();
  m->number = next_message_;
  m->data = data;
  m->lkey = lkey;
  if (shape_.hadamard) {
    m->spread.emplace(shape_, data.size());
    if (auto r = m->spread->check(data); !r) return Error{r.error()};
  }
  m->packets = static_cast<uint32_t>(shape_.packets_of(m->spread ? m->spread->wire_bytes() : data.size()));
  m->sent_at.assign(m->packets, 0);
  m->queued.assign(m->packets, false);
  m->acked = PacketSet(m->packets, shape_.chunk_packets);
  if (const auto g = grants_.find(m->number); g != grants_.end()) {
    begin(*m, g->second);
    grants_.erase(g);
  }
  messages_[next_message_] = std::move(m);
  state_at_ = Instant{INT64_MIN};
  return next_message_++;
}

void SdrSender::begin(Message& m, const Grant& grant) {
  m.grant = grant;
  granted_end_ = std::max(granted_end_, m.number + 1);
  std::string error;
  if (grant.data.length < m.data.size())
    error = "the message has " + std::to_string(m.data.size()) + " bytes and the receiver granted " +
            std::to_string(grant.data.length);
  if (error.empty() && !m.data.empty())
    if (auto r = prepare(m); !r) error = r.error();
  if (error.empty()) return note_work(m);
  m.released = true;
  done_.push_back({m.number, error});
}

// What is sent beside the message, or in its place, stands in memory of the library.
Result<void> SdrSender::prepare(Message& m) {
  if (shape_.coded()) {
    m.parity_memory.resize(parity_bytes(shape_, m.data.size()));
    auto region = nic_.add_region(m.parity_memory, Access::kLocal);
    if (!region) return Error{"parity: " + region.error()};
    m.parity_region = *region;
    m.parity.emplace(shape_, *code_, m.data, m.parity_memory);
  }
  if (m.spread) {
    m.spread_memory.resize(m.spread->wire_bytes());
    if (auto r = m.spread->encode(m.data, m.spread_memory, m.grant->seed); !r) return r;
    auto region = nic_.add_region(m.spread_memory, Access::kLocal);
    if (!region) return Error{"transform: " + region.error()};
    m.spread_region = *region;
    m.transformed = true;
  }
  return {};
}

std::optional<SendDone> SdrSender::take_done() {
  if (done_.empty()) return {};
  SendDone d = std::move(done_.front());
  done_.pop_front();
  return d;
}

void SdrSender::set_rate(Rate rate, Instant now) {
  rate_ = rate;
  pacer_.set_rate(rate, now);
}

void SdrSender::echo(const Echo& e, Instant now) {
  if (!e.sent.is_never()) round_trip_.add(now - e.sent - e.residence);
}

void SdrSender::on_sent(uint64_t id) {
  completed_ = std::max(completed_, id + 1);
  std::erase_if(acknowledged_, [this](Message* m) {
    release(*m);
    return m->released;
  });
}

// The receiver has it, and no copy of it is left in the NIC.
void SdrSender::release(Message& m) {
  if (!m.acknowledged || m.released || m.last_request > completed_) return;
  m.released = true;
  done_.push_back({m.number, ""});
  state_at_ = Instant{INT64_MIN};  // FIN
}

void SdrSender::on_state(const ReceiverState& s, Instant now) {
  echo(s.echo, now);
  for (const Grant& g : s.grants) {
    if (g.message < granted_below_) continue;
    if (const auto m = messages_.find(g.message); m == messages_.end()) {
      if (g.message >= next_message_ && grants_.size() < kGrantsKept) grants_[g.message] = g;
    } else if (!m->second->grant) {
      begin(*m->second, g);
    }
  }
  const auto known = [this](uint64_t n) {
    const auto m = messages_.find(n);
    return grants_.contains(n) || (m != messages_.end() && m->second->grant);
  };
  const uint64_t before = granted_below_;
  while (known(granted_below_)) ++granted_below_;
  if (granted_below_ > before) state_at_ = Instant{INT64_MIN};
  // A receiver cannot have seen a FIN that was not said: of that message the NIC may still hold packets.
  while (!messages_.empty() && messages_.begin()->first < s.finished_below &&
         messages_.begin()->second->released) {
    forget(*messages_.begin()->second);
    messages_.erase(messages_.begin());
  }
}

void SdrSender::count_loss(bool was_lost, Instant now) {
  ++(was_lost ? lost_in_window_ : sent_in_window_);
  if (sent_in_window_ < kLossWindow) return;
  const bool much =
      static_cast<double>(lost_in_window_) > 2 * options_.expected_loss * static_cast<double>(sent_in_window_);
  const int64_t least = std::max<int64_t>(rate_.bps / 64, 1);
  const int64_t bps =
      much ? std::max(pacer_.rate().bps / 2, least) : std::min(pacer_.rate().bps + rate_.bps / 16, rate_.bps);
  if (much) ++n_.rate_halved;
  pacer_.set_rate({bps}, now);
  sent_in_window_ = lost_in_window_ = 0;
}

void SdrSender::lost(Message& m, uint32_t index, Instant now) {
  if (m.queued[index]) return;
  m.queued[index] = true;
  m.resend.push_back(index);
  note_work(m);
  count_loss(true, now);
}

// What was sent later than this cannot have been seen when the report was made. The echo tells when that was,
// however long the report and the state that it echoes were under way; it is never later than the shortest
// round trip allows.
Instant SdrSender::seen_until(const Echo& e, Instant now) const {
  const Instant at_best = now - round_trip_.least();
  return e.sent.is_never() ? at_best : earlier(at_best, e.sent + e.residence);
}

void SdrSender::on_ack(const Ack& a, Instant now) {
  echo(a.echo, now);
  const auto it = messages_.find(a.message);
  if (it == messages_.end() || !it->second->grant) return;
  Message& m = *it->second;
  if (a.done) {
    if (!m.acknowledged) {
      m.acknowledged = true;
      m.resend.clear();
      to_send_.erase(m.number);
      acknowledged_.push_back(&m);
    }
    release(m);
    if (m.released) std::erase(acknowledged_, &m);
    return;
  }
  const auto end = static_cast<uint32_t>(std::min<uint64_t>(m.packets, uint64_t{a.from} + 8 * a.bits.size()));
  for (; m.acked_below < std::min(a.whole_below, m.packets); ++m.acked_below) m.acked.add(m.acked_below);
  const int64_t seen = seen_until(a.echo, now).ns;
  for (uint32_t p = a.from; p < end; ++p) {
    if ((a.bits[(p - a.from) / 8] >> ((p - a.from) % 8) & 1) != 0) {
      m.acked.add(p);
    } else if (p < a.judged_below && p < m.next_new && !m.acked.has(p) && m.sent_at[p] <= seen) {
      lost(m, p, now);
    }
  }
}

void SdrSender::post(Message& m, const GrantedPart& part, uint32_t index, Bytes bytes, uint32_t lkey,
                     Instant now) {
  SendRequest r;
  r.id = posted_;
  r.data = bytes;
  r.lkey = lkey;
  r.remote = part.remote + uint64_t{index} * shape_.packet_bytes;
  r.rkey = part.rkey;
  r.immediate = shape_.layout.pack({part.slot, index, part.generation});
  r.signalled = (posted_ + 1) % kSignalEvery == 0;
  batch_.push_back(r);
  m.last_request = ++posted_;
  ++n_.packets;
  pacer_.charge(static_cast<uint32_t>(bytes.size()) + kHeaderBytes);
  count_loss(false, now);
}

void SdrSender::post_data(Message& m, uint32_t index, Instant now) {
  const uint64_t at = uint64_t{index} * shape_.packet_bytes;
  m.sent_at[index] = now.ns;
  const Bytes all = m.wire();
  post(m, m.grant->data, index, all.subspan(at, std::min<uint64_t>(shape_.packet_bytes, all.size() - at)),
       m.wire_lkey(), now);
}

bool SdrSender::has_work(const Message& m) const {
  return m.grant && !m.acknowledged && !m.released && (!m.all_posted() || !m.resend.empty());
}

void SdrSender::note_work(Message& m) {
  if (has_work(m)) {
    to_send_[m.number] = &m;
  } else {
    to_send_.erase(m.number);
  }
}

// One packet, where one is to be sent of this message.
void SdrSender::post_some(Message& m, Instant now) {
  while (!m.resend.empty()) {
    const uint32_t p = m.resend.front();
    m.resend.pop_front();
    m.queued[p] = false;
    if (m.acked.has(p)) continue;
    ++n_.resent;
    post_data(m, p, now);
    return;
  }
  if (m.all_posted()) return;
  if (m.parity && m.next_parity < m.parity->due(m.next_new)) {
    const uint32_t p = m.next_parity++;
    post(m, m.grant->parity, p, m.parity->packet(p), m.parity_region.lkey, now);
  } else {
    post_data(m, m.next_new++, now);
  }
  if (m.all_posted()) m.all_sent_request = posted_;
}

void SdrSender::post_what_may(Instant now) {
  pacer_.refill(now);
  batch_.clear();
  while (!to_send_.empty() && pacer_.open() && posted_ - completed_ < options_.send_queue) {
    Message& m = *to_send_.begin()->second;
    post_some(m, now);
    note_work(m);
  }
  if (batch_.empty()) return;
  batch_.back().signalled = true;  // whatever is posted will be known to have left
  const size_t taken = nic_.post_send(qp_, batch_);
  MRDMA_CHECK(taken == batch_.size() || taken == 0);  // there is room for all, or the queue pair has failed
}

void SdrSender::say_state(Instant now, std::vector<Signal>& out) {
  SenderState s;
  s.now = now;
  s.round_trip = round_trip_.average();
  s.granted_below = granted_below_;
  const size_t most = (shape_.datagram_bytes - kSignalHeader) / kEntryBytes;
  for (const auto& [number, m] : messages_) {
    if (number >= granted_end_) break;
    if (!m->grant) continue;
    s.entries.push_back({number, m->data.size(), m->all_sent_request <= completed_, m->released});
    if (s.entries.size() >= most) break;  // the oldest; the others' turn comes
  }
  out.emplace_back(std::move(s));
  const Duration pause{std::clamp(round_trip_.average().ns / 4, kLeastRepeat.ns, kMostRepeat.ns)};
  state_at_ = !messages_.empty() ? now + pause : Instant::never();
}

void SdrSender::poll(Instant now, std::vector<Signal>& out) {
  const uint64_t before = posted_;
  post_what_may(now);
  if (posted_ != before) state_at_ = earlier(state_at_, now + kLeastRepeat);
  if (state_at_ <= now) say_state(now, out);
}

Instant SdrSender::next_wakeup() const {
  // With a full send queue the next completion is what is waited for.
  if (to_send_.empty() || posted_ - completed_ >= options_.send_queue) return state_at_;
  return earlier(state_at_, pacer_.opens_at());
}

}  // namespace matchrdma::host
