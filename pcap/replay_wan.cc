#include "pcap/replay_wan.h"

namespace matchrdma {
namespace {

constexpr uint32_t kEthernet = 14;

/// Packets of one flow share a path, so disorder is small (Timing::reorder_window is as large).
constexpr Duration kReorderExtra = Duration::micros(50);

model::SpanConfig clean_span(const ReplayOptions& o) { return {.delay = o.one_way(), .rate = o.rate}; }

}  // namespace

ReplayWan::ReplayWan(const ReplayOptions& options, model::PacketArena& pool)
    : options_(options),
      data_{WanQueue(clean_span(options), options.seed * 4 + 0),
            WanQueue(clean_span(options), options.seed * 4 + 1)},
      control_{WanQueue(clean_span(options), options.seed * 4 + 2),
               WanQueue(clean_span(options), options.seed * 4 + 3)} {
  for (auto* queues : {&data_, &control_})
    for (WanQueue& q : *queues) {
      q.set_clone([&pool](const WanItem& i) {
        WanItem copy;
        if (i.packet) copy.packet = model::clone_packet(i.packet, pool);
        copy.datagram = i.datagram;
        return copy;
      });
      q.set_corrupt([&pool](WanItem& i, Prng& prng) {
        if (i.packet) {
          // What a link spoils its own checksum finds. This is what happens inside of boxes: anything the ICRC
          // covers (in the BTH the five bytes before AckReq are not all covered) and it must find.
          const ParseResult r = parse_frame(i.packet->bytes());
          const uint32_t from = r.kind == ParseKind::kRoce ? r.frame.bth_offset() + 5 : kEthernet;
          model::corrupt_packet(i.packet, prng, pool, from);
        } else {
          const uint64_t bit = prng.below(i.datagram.size() * 8);
          i.datagram[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
        }
      });
    }
}

void ReplayWan::start_faults(Instant first) {
  faulty_ = options_.loss > 0 || options_.corrupt > 0 || options_.cut.has_value();
  for (auto* queues : {&data_, &control_})
    for (WanQueue& q : *queues) {
      model::SpanConfig& c = q.config();
      c.loss = options_.loss;
      c.duplicate = options_.duplicate;
      c.reorder = options_.reorder;
      c.corrupt = options_.corrupt;
      c.reorder_extra = kReorderExtra;
      if (options_.cut) c.cuts = {{first + options_.cut->at, first + options_.cut->at + options_.cut->length}};
    }
}

bool ReplayWan::send_packet(Site site, PacketRef p, Instant now) {
  WanQueue& q = data_to(1 - site);
  const size_t in_flight = q.in_flight();
  const uint64_t corrupted = q.stats().corrupted;
  const uint32_t size = p->size + kFraming;
  q.push({.packet = std::move(p)}, size, now);
  const size_t launched = q.in_flight() - in_flight;
  return launched > q.stats().corrupted - corrupted;
}

void ReplayWan::send_datagram(Site site, Queue queue, Bytes datagram, Instant now) {
  const bool data = queue == Queue::kData;
  WanQueue& q = data ? data_to(1 - site) : control_to(1 - site);
  const model::SpanStats before = q.stats();
  const auto size = static_cast<uint32_t>(datagram.size()) + kDatagramHeaders + kFraming;
  q.push({.datagram = {datagram.begin(), datagram.end()}}, size, now);
  const uint64_t lost = q.stats().lost + q.stats().cut - before.lost - before.cut;
  control_lost_ += lost;
  if (data) data_datagrams_lost_ += lost;
}

void ReplayWan::report(SpanReport& r) const {
  for (const WanQueue& q : data_) {
    const model::SpanStats& s = q.stats();
    r.lost += s.lost + s.cut + s.tail_drops;
    r.reordered += s.reordered;
    r.duplicated += s.duplicated;
    r.corrupted += s.corrupted;
    r.peak_queue_bytes = std::max(r.peak_queue_bytes, s.peak_queue_bytes);
    r.peak_in_flight_bytes += s.peak_in_flight_bytes;
  }
  r.lost -= data_datagrams_lost_;
  r.control_lost = control_lost_;
}

}  // namespace matchrdma
