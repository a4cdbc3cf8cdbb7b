#include "pcap/make/host_pair.h"

namespace matchrdma {
namespace {

/// NICs send at most one CNP per queue pair in this time (the paper's 50 us).
constexpr Duration kCnpInterval = Duration::micros(50);

uint64_t seed_of(const TraceRecipe& r, uint32_t number, uint64_t purpose) {
  return r.seed * 0x9e3779b97f4a7c15ull + uint64_t{number} * 64 + purpose;
}

model::HostConfig host_config(const TraceRecipe& r, uint32_t number, int side) {
  model::HostConfig c;
  c.tx_rate = r.rate;
  c.cnp_interval = kCnpInterval;
  c.number_packets = true;
  c.first_identification = static_cast<uint16_t>(Prng(seed_of(r, number, 8 + uint64_t(side))).next());
  return c;
}

/// MADs are sent again after 0.5 s, or after four round trips where those are longer.
model::CmConfig cm_config(const TraceRecipe& r, uint32_t number, int side) {
  model::CmConfig c;
  Prng prng(seed_of(r, number, 10 + static_cast<uint64_t>(side)));
  const int64_t patience = 8 * (one_way(r) + r.lan_latency * 2).ns;
  while ((int64_t{4096} << c.response_timeout) < patience) ++c.response_timeout;
  c.first_transaction = prng.next() >> 16;
  c.first_psn = Psn{static_cast<uint32_t>(prng.below(256))};
  return c;
}

model::PacketSpan wire(const TraceRecipe& r, uint32_t number, int side, bool before_tap,
                       model::PacketArena& arena) {
  const bool near = (side == 0) == (r.tap == TraceTap::kA);  // the sender stands where the tap is
  model::SpanConfig c;
  c.delay = near == before_tap ? r.lan_latency : r.lan_latency + one_way(r);
  c.loss = before_tap == (r.loss_at == TraceLossAt::kBeforeTap) ? r.loss : 0;
  const uint64_t purpose = static_cast<uint64_t>(side) * 2 + (before_tap ? 1 : 0);
  return model::make_packet_span(c, seed_of(r, number, purpose), arena);
}

}  // namespace

HostPair::HostPair(const TraceRecipe& r, uint32_t number, model::PacketArena& arena)
    : number_(number),
      cms_{model::CmAgent(cm_config(r, number, 0)), model::CmAgent(cm_config(r, number, 1))},
      hosts_{model::Host(host_config(r, number, 0), arena), model::Host(host_config(r, number, 1), arena)},
      to_tap_{wire(r, number, 0, true, arena), wire(r, number, 1, true, arena)},
      from_tap_{wire(r, number, 0, false, arena), wire(r, number, 1, false, arena)} {
  for (const int side : {0, 1}) host(side).set_cm(&cm(side));
}

bool HostPair::arrive(Instant now) {
  bool any = false;
  for (const int side : {0, 1})
    while (auto p = from_tap_[at(side)].pop_due(now)) {
      host(1 - side).on_packet((*p)->bytes(), now);
      touched_[at(1 - side)] = any = true;
    }
  return any;
}

void HostPair::depart(Instant now, Tap& tap) {
  for (const int side : {0, 1}) {
    if (touched_[at(side)] || due_[at(side)] <= now) {
      while (PacketRef p = host(side).poll(now)) {
        const uint32_t size = p->size;
        to_tap_[at(side)].push(std::move(p), size, now);
      }
      due_[at(side)] = host(side).next_deadline();
      touched_[at(side)] = false;
    }
    while (auto p = to_tap_[at(side)].pop_due(now)) {
      const uint32_t size = (*p)->size;
      tap.see(number_, side, {(*p)->data, size}, now);
      from_tap_[at(side)].push(std::move(*p), size, now);
    }
  }
}

Instant HostPair::next() const {
  Instant due = earlier(due_[0], due_[1]);
  for (const size_t side : {0u, 1u})
    due = earlier(due, earlier(to_tap_[side].next_due(), from_tap_[side].next_due()));
  return due;
}

bool HostPair::quiet() const {
  for (const size_t side : {0u, 1u})
    if (!to_tap_[side].empty() || !from_tap_[side].empty()) return false;
  return true;
}

uint64_t HostPair::lost() const {
  uint64_t n = 0;
  for (const size_t side : {0u, 1u}) n += to_tap_[side].stats().lost + from_tap_[side].stats().lost;
  return n;
}

}  // namespace matchrdma
