#include "model/packet_arena.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace matchrdma::model {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

constexpr uint32_t kNoClass = 0xffffffff;

}  // namespace

PacketArena::PacketArena(ArenaConfig config) : config_(config) {
  if (config_.mode == ArenaConfig::Mode::kAuto)
    config_.mode = kSanitized ? ArenaConfig::Mode::kExact : ArenaConfig::Mode::kPooled;
}

PacketArena::~PacketArena() {
  MRDMA_CHECK(live_packets_ == 0);
  for (auto& list : free_)
    for (Block* b : list) ::operator delete(b);
}

PacketArena::Block* PacketArena::take(uint32_t size) {
  uint32_t size_class = kNoClass;
  uint32_t capacity = size;
  if (config_.mode == ArenaConfig::Mode::kPooled) {
    const auto it = std::lower_bound(kClasses.begin(), kClasses.end(), size);
    if (it != kClasses.end()) {
      size_class = static_cast<uint32_t>(it - kClasses.begin());
      capacity = *it;
      auto& list = free_[size_class];
      if (!list.empty()) {
        Block* b = list.back();
        list.pop_back();
        return b;
      }
    }
  }
  // The data follows its block in one allocation, so the end of the data is the end of the allocation.
  void* memory = ::operator new(sizeof(Block) + capacity);
  Block* b = new (memory) Block;
  b->packet.data = static_cast<uint8_t*>(memory) + sizeof(Block);
  b->packet.capacity = capacity;
  b->packet.pool = this;
  b->size_class = size_class;
  return b;
}

PacketRef PacketArena::alloc(uint32_t size) {
  if (live_packets_ >= config_.max_packets || size > config_.max_bytes ||
      live_bytes_ > config_.max_bytes - size) {
    ++exhausted_;
    return {};
  }
  Block* b = take(size);
  b->packet.size = size;
  b->packet.refs = 1;
  b->packet.tag = 0;
  b->charged = size;
  peak_packets_ = std::max(peak_packets_, ++live_packets_);
  live_bytes_ += size;
  peak_bytes_ = std::max(peak_bytes_, live_bytes_);
  return PacketRef::adopt(&b->packet);
}

void PacketArena::recycle(Packet* p) noexcept {
  // Packet is the first member of a standard-layout Block, so both have one address.
  Block* b = reinterpret_cast<Block*>(p);
  --live_packets_;
  live_bytes_ -= b->charged;
  if (b->size_class == kNoClass)
    ::operator delete(b);
  else
    free_[b->size_class].push_back(b);
}

PacketRef PacketArena::copy(Bytes bytes) {
  PacketRef p = alloc(static_cast<uint32_t>(bytes.size()));
  if (p && !bytes.empty()) std::memcpy(p->data, bytes.data(), bytes.size());
  return p;
}

}  // namespace matchrdma::model
