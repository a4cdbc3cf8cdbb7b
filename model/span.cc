#include "model/span.h"

#include <cstring>

#include "dataplane/wire/frame.h"

namespace matchrdma::model {
namespace {

void flip_bits(MutableBytes bytes, Prng& prng, uint32_t from) {
  if (bytes.size() <= from) return;
  const uint64_t first = prng.below((bytes.size() - from) * 8);
  const uint64_t flips = 1 + prng.below(3);
  // Neighbouring bits: two flips can never undo each other.
  for (uint64_t i = 0; i < flips; ++i) {
    const uint64_t bit = uint64_t{from} * 8 + (first + i) % ((bytes.size() - from) * 8);
    bytes[bit / 8] = static_cast<uint8_t>(bytes[bit / 8] ^ (1u << (bit % 8)));
  }
}

}  // namespace

PacketRef clone_packet(const PacketRef& p, PacketPool& pool) {
  if (!p) return {};
  PacketRef copy = pool.alloc(p->size);
  if (!copy) return copy;
  if (p->size > 0) std::memcpy(copy->data, p->data, p->size);
  copy->tag = p->tag;
  return copy;
}

uint32_t fragile_from(Bytes frame) {
  constexpr uint32_t kEthernet = 14;
  const ParseResult parsed = parse_frame(frame);
  return parsed.kind == ParseKind::kRoce ? parsed.frame.l3_offset() : kEthernet;
}

void corrupt_packet(PacketRef& p, Prng& prng, PacketPool& pool, uint32_t from) {
  if (!p) return;
  p = clone_packet(p, pool);
  if (p) flip_bits({p->data, p->size}, prng, from);
}

PacketSpan make_packet_span(SpanConfig config, uint64_t seed, PacketPool& pool) {
  PacketSpan span(std::move(config), seed);
  span.set_clone([&pool](const PacketRef& p) { return clone_packet(p, pool); });
  span.set_corrupt([&pool](PacketRef& p, Prng& prng) {
    if (p) corrupt_packet(p, prng, pool, fragile_from(p->bytes()));
  });
  return span;
}

ItemSpan make_item_span(SpanConfig config, uint64_t seed, PacketPool& pool) {
  ItemSpan span(std::move(config), seed);
  span.set_clone([&pool](const SpanItem& i) { return SpanItem{clone_packet(i.packet, pool), i.control}; });
  span.set_corrupt([&pool](SpanItem& i, Prng& prng) {
    if (i.packet)
      corrupt_packet(i.packet, prng, pool, fragile_from(i.packet->bytes()));
    else
      flip_bits({i.control.data(), i.control.size()}, prng, 0);
  });
  return span;
}

}  // namespace matchrdma::model
