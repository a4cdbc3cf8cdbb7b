#include "model/memory.h"

#include <algorithm>
#include <cstring>

namespace matchrdma::model {

void Content::fill(MutableBytes out) const {
  uint64_t word = x_;
  size_t i = 0;
  for (; i + 8 <= out.size(); i += 8, word += kStep) std::memcpy(out.data() + i, &word, 8);
  if (i < out.size()) std::memcpy(out.data() + i, &word, out.size() - i);
}

bool Content::equals(Bytes in) const {
  uint64_t word = x_, differs = 0;
  size_t i = 0;
  for (; i + 8 <= in.size(); i += 8, word += kStep) {
    uint64_t got;
    std::memcpy(&got, in.data() + i, 8);
    differs |= got ^ word;
  }
  return differs == 0 && (i == in.size() || std::memcmp(in.data() + i, &word, in.size() - i) == 0);
}

Memory::Memory(const MemoryConfig& config) : config_(config), bytes_(config.size) {
  Content(config.key, 0).fill({bytes_.data(), bytes_.size()});
}

bool Memory::allows(uint64_t va, uint64_t length, uint32_t rkey) const {
  if (length == 0) return true;
  return rkey == config_.rkey && va >= config_.base && va - config_.base <= config_.size &&
         length <= config_.size - (va - config_.base);
}

uint64_t Memory::load64(uint64_t va) const {
  uint64_t v;
  std::memcpy(&v, at(va, 8).data(), 8);
  return v;
}

void Memory::store64(uint64_t va, uint64_t value) { std::memcpy(at(va, 8).data(), &value, 8); }

ShadowMemory::ShadowMemory(const MemoryConfig& config)
    : memory_(config), last_writer_(config.size / kGrain + 1, -1) {}

MutableBytes ShadowMemory::write(uint64_t va, uint32_t length, uint32_t rkey, int64_t writer) {
  if (length == 0 || !memory_.allows(va, length, rkey)) return {};
  const uint64_t from = va - memory_.config().base;
  for (uint64_t g = from / kGrain; g <= (from + length - 1) / kGrain; ++g) last_writer_[g] = writer;
  return memory_.at(va, length);
}

bool ShadowMemory::could_read(uint64_t va, Bytes data, int64_t reader) const {
  if (data.empty()) return true;
  if (!memory_.allows(va, data.size(), memory_.config().rkey)) return false;
  const uint64_t from = va - memory_.config().base;
  for (uint64_t i = 0; i < data.size();) {
    const uint64_t grain = (from + i) / kGrain;
    const uint64_t n = std::min<uint64_t>(data.size() - i, (grain + 1) * kGrain - (from + i));
    if (last_writer_[grain] <= reader &&
        std::memcmp(data.data() + i, memory_.at(va + i, static_cast<uint32_t>(n)).data(), n) != 0)
      return false;
    i += n;
  }
  return true;
}

}  // namespace matchrdma::model
