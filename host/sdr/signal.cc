#include "host/sdr/signal.h"

#include <utility>

namespace matchrdma::host {
namespace {

constexpr uint8_t kVersion = 1;
enum class Kind : uint8_t { kSenderState = 1, kReceiverState, kAck };

class Out {
 public:
  void number(uint64_t v, int bytes) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
      bytes_.push_back(static_cast<uint8_t>(v >> shift));
  }
  void part(const GrantedPart& p) {
    number(p.slot, 2);
    number(p.generation, 2);
    number(p.rkey, 4);
    number(p.remote, 8);
    number(p.length, 8);
  }
  void echo(const Echo& e) {
    number(static_cast<uint64_t>(e.sent.ns), 8);
    number(static_cast<uint64_t>(e.residence.ns), 8);
  }
  void bytes(Bytes b) { bytes_.insert(bytes_.end(), b.begin(), b.end()); }
  std::vector<uint8_t> take() { return std::move(bytes_); }

 private:
  std::vector<uint8_t> bytes_;
};

/// Reads zeros behind the end, and remembers that it did.
class In {
 public:
  explicit In(Bytes b) : left_(b) {}
  uint64_t number(size_t bytes) {
    if (left_.size() < bytes) {
      bad_ = true;
      left_ = {};
      return 0;
    }
    uint64_t v = 0;
    for (size_t i = 0; i < bytes; ++i) v = v << 8 | left_[i];
    left_ = left_.subspan(bytes);
    return v;
  }
  uint16_t u16() { return static_cast<uint16_t>(number(2)); }
  uint32_t u32() { return static_cast<uint32_t>(number(4)); }
  GrantedPart part() {
    GrantedPart p;
    p.slot = u16();
    p.generation = u16();
    p.rkey = u32();
    p.remote = number(8);
    p.length = number(8);
    return p;
  }
  /// Times that no clock shows are refused, so that sums and differences of them hold.
  Instant instant() {
    const Instant t{static_cast<int64_t>(number(8))};
    if (!t.is_never() && (t.ns > kFarthest || t.ns < -kFarthest)) bad_ = true;
    return t;
  }
  Duration duration() {
    const Duration d{static_cast<int64_t>(number(8))};
    if (d.ns < 0 || d.ns > kLongest.ns) bad_ = true;
    return d;
  }
  Echo echo() {
    const Instant sent = instant();
    return {sent, duration()};
  }
  Bytes rest() { return std::exchange(left_, {}); }
  size_t left() const { return left_.size(); }
  /// All of it was read, and it was there and made sense.
  bool good() const { return !bad_ && left_.empty(); }

 private:
  static constexpr int64_t kFarthest = int64_t{1} << 61;
  static constexpr Duration kLongest = Duration::seconds(3600);
  Bytes left_;
  bool bad_ = false;
};

void write(Out& o, const SenderState& s) {
  o.number(static_cast<uint64_t>(s.now.ns), 8);
  o.number(static_cast<uint64_t>(s.round_trip.ns), 8);
  o.number(s.granted_below, 8);
  for (const SenderState::Entry& e : s.entries) {
    o.number(e.message, 8);
    o.number(e.length, 8);
    o.number((e.all_sent ? 1u : 0u) | (e.fin ? 2u : 0u), 1);
  }
}

void write(Out& o, const ReceiverState& s) {
  o.echo(s.echo);
  o.number(s.finished_below, 8);
  for (const Grant& g : s.grants) {
    o.number(g.message, 8);
    o.part(g.data);
    o.part(g.parity);
    o.number(g.seed, 8);
  }
}

void write(Out& o, const Ack& a) {
  o.echo(a.echo);
  o.number(a.message, 8);
  o.number(a.received, 4);
  o.number(a.judged_below, 4);
  o.number(a.done ? 1 : 0, 1);
  o.number(a.whole_below, 4);
  o.number(a.from, 4);
  o.bytes(a.bits);
}

Signal read_sender_state(In& in) {
  SenderState s;
  s.now = in.instant();
  s.round_trip = in.duration();
  s.granted_below = in.number(8);
  while (in.left() > 0) {
    SenderState::Entry e;
    e.message = in.number(8);
    e.length = in.number(8);
    const uint64_t flags = in.number(1);
    e.all_sent = (flags & 1) != 0;
    e.fin = (flags & 2) != 0;
    s.entries.push_back(e);
  }
  return s;
}

Signal read_receiver_state(In& in) {
  ReceiverState s;
  s.echo = in.echo();
  s.finished_below = in.number(8);
  while (in.left() > 0) {
    Grant g;
    g.message = in.number(8);
    g.data = in.part();
    g.parity = in.part();
    g.seed = in.number(8);
    s.grants.push_back(g);
  }
  return s;
}

Signal read_ack(In& in) {
  Ack a;
  a.echo = in.echo();
  a.message = in.number(8);
  a.received = in.u32();
  a.judged_below = in.u32();
  a.done = in.number(1) != 0;
  a.whole_below = in.u32();
  a.from = in.u32();
  const Bytes bits = in.rest();
  a.bits.assign(bits.begin(), bits.end());
  return a;
}

}  // namespace

std::vector<uint8_t> encode_signal(const Signal& signal, uint32_t epoch) {
  Out o;
  o.number(kVersion, 1);
  o.number(signal.index() + 1, 1);
  o.number(epoch, 4);
  std::visit([&o](const auto& s) { write(o, s); }, signal);
  return o.take();
}

std::optional<Signal> decode_signal(Bytes datagram, uint32_t epoch) {
  In in(datagram);
  const uint64_t version = in.number(1);
  const auto kind = static_cast<Kind>(in.number(1));
  if (version != kVersion || in.u32() != epoch) return {};
  std::optional<Signal> s;
  if (kind == Kind::kSenderState) s = read_sender_state(in);
  if (kind == Kind::kReceiverState) s = read_receiver_state(in);
  if (kind == Kind::kAck) s = read_ack(in);
  if (!in.good()) return {};
  return s;
}

}  // namespace matchrdma::host
