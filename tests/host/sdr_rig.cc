#include "tests/host/sdr_rig.h"

#include <algorithm>
#include <utility>

#include "dataplane/base/check.h"
#include "host/sdr/spread.h"

namespace matchrdma::host::test {
namespace {

constexpr uint32_t kSender = 0, kReceiver = 1;

/// Finite numbers of very different sizes: the exponent's highest bits are made harmless.
void make_numbers(MutableBytes bytes, ElementType type) {
  const size_t size = element_bytes(type);
  for (size_t i = size - 1; i < bytes.size(); i += size)
    bytes[i] = static_cast<uint8_t>((bytes[i] & 0x87) | (type == ElementType::kF16 ? 0x20 : 0x38));
}

Duration path_round_trip(const RigSettings& s) { return s.there.delay + s.back.delay; }

}  // namespace

SdrRig::SdrRig(const RigSettings& settings)
    : settings_(settings),
      net_(settings.seed, settings.nic, settings.nic),
      prng_(settings.seed ^ 0x5d5d),
      apps_(settings.seed, settings.traffic, prng_, [h = settings.sdr.shape.hadamard](MutableBytes bytes) {
        if (h) make_numbers(bytes, *h);
      }) {
  net_.set_path(kSender, settings_.there);
  net_.set_path(kReceiver, settings_.back);
  for (uint32_t r = 0; r < settings_.restarts; ++r)
    restart_at_.push_back(net_.now() +
                          Duration{prng_.between(0, 20 * path_round_trip(settings_).ns + 1'000'000)});
  std::sort(restart_at_.begin(), restart_at_.end());
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

std::string SdrRig::connect() {
  for (auto& e : ends_) e.reset();
  apps_.new_life();
  settings_.sdr.shape.epoch = ++epoch_;
  for (uint32_t e = 0; e < 2; ++e) {
    auto made = SdrEndpoint::make(settings_.sdr, net_.nic(e), clock(e));
    if (!made) return made.error();
    ends_[e] = std::move(*made);
    look_at_[e] = net_.now();
  }
  for (uint32_t e = 0; e < 2; ++e)
    if (auto r = ends_[e]->connect(ends_[1 - e]->addresses()); !r) return r.error();
  for (size_t m = 0; m < apps_.life_size(); ++m)
    if (auto r = a().sender().send(apps_.source(m), 0); !r) return r.error();
  return {};
}

void SdrRig::post_buffers() {
  for (MutableBytes buffer = apps_.offer(); !buffer.empty(); buffer = apps_.offer()) {
    auto n = ends_[kReceiver]->receiver().receive_post(buffer, clock(kReceiver));
    MRDMA_CHECK(n.ok());
    if (!*n) return;  // all slots taken
    apps_.posted();
  }
}

void SdrRig::take_received() {
  while (const auto d = ends_[kReceiver]->receiver().take_done()) {
    apps_.received(d->message, d->length, arrives(apps_.sent(d->message), *d), !d->missing.empty());
  }
}

void SdrRig::take_sent() {
  while (const auto d = a().sender().take_done()) {
    if (!d->error.empty()) apps_.complain(d->error);
    apps_.released(d->message);
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
  while (apps_.wrong().empty()) {
    step();
    if (!apps_.wrong().empty()) break;
    if (apps_.all_received() && a().sender().under_way() == 0) break;
    if (net_.now() > Instant{} + settings_.patience)
      return "not done after " + std::to_string(settings_.patience.ns / 1'000'000) +
             " ms: " + std::to_string(apps_.delivered()) + " of " + std::to_string(settings_.traffic.messages) +
             " messages";
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
  return apps_.wrong();
}

}  // namespace matchrdma::host::test
