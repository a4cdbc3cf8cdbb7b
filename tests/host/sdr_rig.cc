#include "tests/host/sdr_rig.h"

#include <algorithm>
#include <utility>

#include "dataplane/base/check.h"
#include "host/sdr/spread.h"

namespace matchrdma::host::test {
namespace {

constexpr uint32_t kSender = 0, kReceiver = 1;
constexpr uint8_t kReleased = 0xee;  // what the sending application writes into a buffer that it has back

/// Finite numbers of very different sizes: the exponent's highest bits are made harmless.
void make_numbers(MutableBytes bytes, ElementType type) {
  const size_t size = element_bytes(type);
  for (size_t i = size - 1; i < bytes.size(); i += size)
    bytes[i] = static_cast<uint8_t>((bytes[i] & 0x87) | (type == ElementType::kF16 ? 0x20 : 0x38));
}

Duration path_round_trip(const RigSettings& s) { return s.there.delay + s.back.delay; }

}  // namespace

SdrRig::SdrRig(const RigSettings& settings)
    : settings_(settings), net_(settings.seed, settings.nic, settings.nic), prng_(settings.seed ^ 0x5d5d) {
  net_.set_path(kSender, settings_.there);
  net_.set_path(kReceiver, settings_.back);
  for (uint32_t m = 0; m < settings_.messages; ++m) {
    lengths_.push_back(static_cast<uint64_t>(prng_.between(static_cast<int64_t>(settings_.least_bytes),
                                                           static_cast<int64_t>(settings_.most_bytes))));
    sent_.push_back(content(m));
  }
  buffers_.resize(settings_.buffers);
  for (Buffer& b : buffers_) {
    b.bytes.resize(settings_.most_bytes);
    fill(b);
  }
  for (uint32_t r = 0; r < settings_.restarts; ++r)
    restart_at_.push_back(net_.now() +
                          Duration{prng_.between(0, 20 * path_round_trip(settings_).ns + 1'000'000)});
  std::sort(restart_at_.begin(), restart_at_.end());
}

std::vector<uint8_t> SdrRig::content(uint32_t message) const {
  Prng p(settings_.seed * 1'000'003 + message);
  std::vector<uint8_t> bytes(lengths_[message]);
  for (uint8_t& b : bytes) b = static_cast<uint8_t>(p.next());
  if (settings_.sdr.shape.hadamard) make_numbers(bytes, *settings_.sdr.shape.hadamard);
  return bytes;
}

/// What has to arrive: without the transform zeros where something is missing, with it what the same packets
/// give here.
std::vector<uint8_t> SdrRig::arrives(const std::vector<uint8_t>& sent, const ReceiveDone& d) const {
  std::vector<uint8_t> right = sent;
  const SdrShape& shape = settings_.sdr.shape;
  if (!shape.hadamard) {
    for (const MissingRange& r : d.missing)
      std::fill_n(right.begin() + static_cast<std::ptrdiff_t>(r.offset), r.length, uint8_t{0});
    return right;
  }
  const Spread spread(shape, sent.size());
  const uint64_t seed = spread_seed(settings_.sdr.receiver.seed, shape.epoch, d.message);
  std::vector<uint8_t> wire(spread.wire_bytes());
  MRDMA_CHECK(spread.encode(sent, wire, seed).ok());
  PacketSet there(static_cast<uint32_t>(shape.packets_of(wire.size())), shape.chunk_packets);
  for (uint32_t p = 0; p < there.size(); ++p) {
    const uint64_t at = uint64_t{p} * shape.packet_bytes;
    if (std::none_of(d.missing.begin(), d.missing.end(),
                     [at](const MissingRange& r) { return at >= r.offset && at < r.offset + r.length; }))
      there.add(p);
  }
  spread.decode(wire, there, seed, right);
  return right;
}

void SdrRig::fill(Buffer& b) {
  b.mark = static_cast<uint8_t>(prng_.below(256));
  std::fill(b.bytes.begin(), b.bytes.end(), b.mark);
}

// A new life of the connection: it carries what B has not told its application (RESUME).
std::string SdrRig::connect() {
  for (auto& e : ends_) e.reset();
  posted_.clear();
  for (Buffer& b : buffers_) {
    if (b.owned) continue;
    b.owned = true;
    fill(b);
  }
  pending_.clear();
  for (uint32_t m = 0; m < settings_.messages; ++m)
    if (!done_.contains(m)) pending_.push_back(m);
  settings_.sdr.shape.epoch = ++epoch_;
  for (uint32_t e = 0; e < 2; ++e) {
    auto made = SdrEndpoint::make(settings_.sdr, net_.nic(e), clock(e));
    if (!made) return made.error();
    ends_[e] = std::move(*made);
    look_at_[e] = net_.now();
  }
  for (uint32_t e = 0; e < 2; ++e)
    if (auto r = ends_[e]->connect(ends_[1 - e]->addresses()); !r) return r.error();
  for (const uint32_t m : pending_)
    if (auto r = a().sender().send(sent_[m], 0); !r) return r.error();
  return {};
}

void SdrRig::post_buffers() {
  for (size_t i = 0; i < buffers_.size() && posted_.size() < pending_.size(); ++i) {
    Buffer& b = buffers_[i];
    if (!b.owned) continue;
    if (std::any_of(b.bytes.begin(), b.bytes.end(), [&b](uint8_t v) { return v != b.mark; })) {
      wrong_ = "a buffer that the application had was written to";
      return;
    }
    auto n = ends_[kReceiver]->receiver().receive_post(b.bytes, clock(kReceiver));
    MRDMA_CHECK(n.ok());
    if (!*n) return;  // all slots taken
    b.owned = false;
    posted_.push_back(i);
  }
}

void SdrRig::take_received() {
  while (const auto d = ends_[kReceiver]->receiver().take_done()) {
    const uint32_t m = pending_[d->message];
    Buffer& b = buffers_[posted_[d->message]];
    const std::vector<uint8_t> right = content(m);
    const std::vector<uint8_t> expected = arrives(right, *d);
    missing_ += !d->missing.empty();
    if (d->length != right.size() || !std::equal(expected.begin(), expected.end(), b.bytes.begin())) {
      wrong_ = "message " + std::to_string(m) + " has wrong bytes";
      return;
    }
    if (!done_.insert(m).second) wrong_ = "message " + std::to_string(m) + " came twice";
    b.owned = true;
    fill(b);
  }
}

void SdrRig::take_sent() {
  while (const auto d = a().sender().take_done()) {
    const uint32_t m = pending_[d->message];
    if (!d->error.empty()) wrong_ = d->error;
    if (!done_.contains(m))
      wrong_ = "message " + std::to_string(m) + " was released before the receiver had it";
    std::fill(sent_[m].begin(), sent_[m].end(), kReleased);
    ++released_;
    released_at_ = net_.now();
  }
}

// One look of each host whose time has come.
void SdrRig::step() {
  for (uint32_t e = 0; e < 2; ++e) {
    if (look_at_[e] > net_.now()) continue;
    ends_[e]->poll(clock(e));
    if (e == kReceiver) {
      take_received();
      post_buffers();
    } else {
      take_sent();
    }
    ends_[e]->poll(clock(e));
    if (began_at_.is_never() && a().sender().counters().packets > 0) began_at_ = net_.now();
    look_at_[e] =
        net_.now() + Duration{prng_.between(1'000, std::max<int64_t>(settings_.most_pause.ns, 1'000))};
  }
}

std::string SdrRig::run() {
  if (std::string e = connect(); !e.empty()) return e;
  while (wrong_.empty()) {
    step();
    if (!wrong_.empty()) break;
    if (done_.size() == settings_.messages && a().sender().under_way() == 0) break;
    if (net_.now() > Instant{} + settings_.patience)
      return "not done after " + std::to_string(settings_.patience.ns / 1'000'000) +
             " ms: " + std::to_string(done_.size()) + " of " + std::to_string(settings_.messages) + " messages";
    const bool failed = a().failed() || b().failed();
    if (failed || (!restart_at_.empty() && restart_at_.front() <= net_.now())) {
      if (!failed) restart_at_.erase(restart_at_.begin());
      if (std::string e = connect(); !e.empty()) return e;
    }
    Instant next = earlier(look_at_[0], look_at_[1]);
    // Nobody has anything to do: to the next event of the wires or the next timer.
    const Instant b_wakes = b().next_wakeup();
    const Instant idle = earlier(earlier(a().next_wakeup(), net_.next_event()),
                                 b_wakes.is_never() ? b_wakes : b_wakes - settings_.clock_offset);
    next = later(next, earlier(idle, next + Duration::millis(1)));
    net_.run_until(later(next, net_.now() + Duration{1}));
  }
  return wrong_;
}

}  // namespace matchrdma::host::test
