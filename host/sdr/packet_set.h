#pragma once
// Which packets of a message are there.
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace matchrdma::host {

/// Duty: a set of packet indices that only grows, and how many of each chunk it holds. 1 bit and 2 bytes per
/// chunk.
class PacketSet {
 public:
  PacketSet() = default;
  PacketSet(uint32_t packets, uint32_t chunk_packets)
      : size_(packets),
        chunk_shift_(static_cast<uint8_t>(std::bit_width(chunk_packets) - 1)),
        words_((packets + 63) / 64),
        chunks_((packets + chunk_packets - 1) / chunk_packets) {}

  /// False: it was there, or lies beyond the message.
  bool add(uint32_t index) {
    if (index >= size_) return false;
    uint64_t& word = words_[index / 64];
    const uint64_t bit = uint64_t{1} << (index % 64);
    if ((word & bit) != 0) return false;
    word |= bit;
    ++chunks_[index >> chunk_shift_];
    ++count_;
    if (index >= end_) end_ = index + 1;
    return true;
  }
  bool has(uint32_t index) const { return index < size_ && (words_[index / 64] >> (index % 64) & 1) != 0; }
  uint32_t size() const { return size_; }
  uint32_t count() const { return count_; }
  bool full() const { return count_ == size_; }
  uint32_t end() const { return end_; }  ///< behind the highest
  /// The lowest that is missing; size() where none is.
  uint32_t first_missing() const {
    while (full_words_ < words_.size() && words_[full_words_] == ~uint64_t{0}) ++full_words_;
    if (full_words_ == words_.size()) return size_;
    const auto at =
        static_cast<uint32_t>(full_words_ * 64 + static_cast<size_t>(std::countr_one(words_[full_words_])));
    return at < size_ ? at : size_;
  }
  /// Bit p % 64 of word p / 64 is packet p.
  std::span<const uint64_t> words() const { return words_; }
  uint32_t chunks() const { return static_cast<uint32_t>(chunks_.size()); }
  uint32_t chunk_count(uint32_t chunk) const { return chunks_[chunk]; }

 private:
  uint32_t size_ = 0, count_ = 0, end_ = 0;
  uint8_t chunk_shift_ = 0;
  mutable size_t full_words_ = 0;  ///< all words before are full: it only grows
  std::vector<uint64_t> words_;
  std::vector<uint16_t> chunks_;
};

}  // namespace matchrdma::host
