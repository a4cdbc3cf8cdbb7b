#pragma once
// Open addressing over a fixed array, sized at start: linear probes, no tombstones.
#include <cstdint>
#include <utility>
#include <vector>

namespace matchrdma {

/// Duty: where entries stand by their hash. Knows neither keys nor limits: the caller tells which entry it
/// means, and puts in no more than it was made for. An Entry that is made by default is a free place; empty()
/// says so.
template <typename Entry>
class ProbeTable {
 public:
  /// At most half full with `most` entries.
  explicit ProbeTable(uint64_t most) {
    uint64_t places = 16;
    while (places < most * 2) places *= 2;
    entries_.resize(places);
  }
  /// The entry that `same` is true of, or the free place where it would stand.
  template <typename Same>
  Entry& find(uint64_t hash, Same&& same) {
    return entries_[place(hash, same)];
  }
  template <typename Same>
  const Entry& find(uint64_t hash, Same&& same) const {
    return entries_[place(hash, same)];
  }
  /// `e` is an entry of this table; `hash_of` tells the hash of any of them.
  template <typename HashOf>
  void erase(Entry& e, HashOf&& hash_of) {
    auto hole = static_cast<uint64_t>(&e - entries_.data());
    // Whoever stands behind the hole and could stand in it moves there, so that probes stay short.
    for (uint64_t i = next(hole); !entries_[i].empty(); i = next(i)) {
      const uint64_t home = hash_of(std::as_const(entries_[i])) & mask();
      if (((i - home) & mask()) < ((i - hole) & mask())) continue;
      entries_[hole] = entries_[i];
      hole = i;
    }
    entries_[hole] = Entry{};
  }
  uint64_t places() const { return entries_.size(); }
  /// The first place that find() looks at.
  const Entry& home(uint64_t hash) const { return entries_[hash & mask()]; }

 private:
  uint64_t mask() const { return entries_.size() - 1; }
  uint64_t next(uint64_t i) const { return (i + 1) & mask(); }
  template <typename Same>
  uint64_t place(uint64_t hash, Same& same) const {
    uint64_t i = hash & mask();
    while (!entries_[i].empty() && !same(entries_[i])) i = next(i);
    return i;
  }
  std::vector<Entry> entries_;
};

}  // namespace matchrdma
