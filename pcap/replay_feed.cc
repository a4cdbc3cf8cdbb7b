#include "pcap/replay_feed.h"

#include <utility>

#include "pcap/replay_lives.h"

namespace matchrdma {

ReplayFeed::ReplayFeed(CaptureReader reader, const TraceFlows& flows, Causality& causality, ReplayHosts& hosts,
                       model::PacketArena& pool)
    : reader_(std::move(reader)),
      flows_(flows),
      causality_(causality),
      hosts_(hosts),
      pool_(pool),
      places_(flows.streams().size()) {
  advance();
}

void ReplayFeed::advance() {
  reader_.next(next_);
  if (!done()) next_.time = *clock_.steady(next_);  // the first pass would have refused it
}

Instant ReplayFeed::horizon() {
  if (done() || hosts_.queued_bytes() > kWindowBytes) return Instant::never();
  return next_.time + hosts_.origin() + hosts_.min_shift();
}

void ReplayFeed::fill(Instant until, Instant now) {
  while (!done() && horizon() <= until) read_one(now);
}

TraceSites::Place ReplayFeed::place(const PacketView& v, Bytes packet) {
  if (v.stream < 0) return flows_.sites().place(packet);
  auto& known = places_[static_cast<size_t>(v.stream)];
  if (!known) known = flows_.sites().place(packet);
  return *known;
}

void ReplayFeed::read_one(Instant now) {
  FedPacket p;
  p.packet = pool_.copy(next_.data);
  p.view = PacketView::of(p.packet->bytes(), flows_, flows_.bad_icrc(next_.index));
  p.view.stream = flows_.stream_at(p.view.parsed, next_.index);
  ReplayLives::mark(*p.packet, p.view.stream);
  p.captured = next_.time;
  p.index = next_.index;
  const TraceSites::Place where = place(p.view, p.packet->bytes());
  p.site = where.site;
  p.host = where.host;
  p.dependency = causality_.captured(p.view, p.captured);
  ++read_;
  hosts_.push(std::move(p), now);
  advance();
}

}  // namespace matchrdma
