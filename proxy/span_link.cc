#include "proxy/span_link.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

namespace matchrdma {
namespace {

/// What a frame takes on an Ethernet wire besides its bytes: preamble 8, checksum 4, gap 12.
constexpr uint32_t kWireOverhead = 24;

double loss_of(const SpanSettings& s, size_t direction) { return direction == 0 ? s.loss_ab : s.loss_ba; }

}  // namespace

SpanLink::SpanLink(io::Port& a, io::Port& b, PacketPool& pool, const SpanSettings& settings, uint64_t seed,
                   uint64_t most_on_the_way)
    : ports_{&a, &b},
      // Different seeds, or both directions would lose the same frames.
      spans_{model::make_packet_span({}, seed, pool), model::make_packet_span({}, ~seed, pool)},
      most_on_the_way_(most_on_the_way) {
  set(settings);
}

void SpanLink::push(size_t from, uint32_t n, Instant now) {
  model::PacketSpan& span = spans_[from];
  SpanDirectionStats& stats = stats_[from];
  const double loss = loss_of(settings_, from);
  const bool judge = loss > 0 && settings_.loss_filter != LossFilter::kAll;
  for (uint32_t i = 0; i < n; ++i) {
    PacketRef frame = std::move(burst_[i]);
    ++stats.frames_in;
    stats.bytes_in += frame->size;
    if (spans_[0].in_flight() + spans_[1].in_flight() >= most_on_the_way_) {
      ++stats.overflow;
      continue;
    }
    if (judge) span.config().loss = may_be_lost(settings_, frame->bytes()) ? loss : 0;
    const uint32_t size = frame->size + kWireOverhead;
    span.push(std::move(frame), size, now);
  }
}

bool SpanLink::send(Instant now) {
  bool any = false;
  for (size_t from = 0; from < 2; ++from) {
    model::PacketSpan& span = spans_[from];
    SpanDirectionStats& stats = stats_[from];
    uint32_t n = 0;
    while (n < kBurst) {
      const Instant due = span.next_due();
      std::optional<PacketRef> frame = span.pop_due(now);
      if (!frame) break;
      // A copy for which there was no memory.
      if (!*frame) continue;
      stats.late_sum_ns += (now - due).ns;
      stats.late_most_ns = std::max(stats.late_most_ns, (now - due).ns);
      burst_[n++] = std::move(*frame);
    }
    if (n == 0) continue;
    any = true;
    const uint32_t sent = ports_[1 - from]->tx_burst(0, io::Lane::kBulk, std::span(burst_).first(n));
    stats.frames_out += sent;
    stats.not_sent += n - sent;
  }
  return any;
}

Instant SpanLink::next_due() const { return earlier(spans_[0].next_due(), spans_[1].next_due()); }

void SpanLink::set(const SpanSettings& settings) {
  settings_ = settings;
  for (size_t d = 0; d < 2; ++d) apply_settings(settings, loss_of(settings, d), spans_[d].config());
}

void SpanLink::cut() {
  for (auto& s : spans_) s.darken();
}

void SpanLink::restore() {
  for (auto& s : spans_) s.light();
}

}  // namespace matchrdma
