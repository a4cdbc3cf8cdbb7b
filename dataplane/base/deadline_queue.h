#pragma once
// One deadline per owner. A heap of what is due soon, and a hierarchical timing wheel (Varghese and Lauck, SOSP
// 1987) of what is due later: setting a deadline costs the same for a million owners, and the earliest one is
// exact all the same, as the replayer and the simulator need it (docs/decisions/0003).
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "dataplane/base/check.h"
#include "dataplane/base/prefetch.h"
#include "dataplane/base/time.h"

namespace matchrdma {

/// A deadline that moves later, as most do with every packet, is only noted: the owner comes up where it stands
/// and goes on to where it belongs.
class DeadlineQueue {
 public:
  explicit DeadlineQueue(uint32_t owners) : owners_(owners), place_(owners, kNone) { heap_.reserve(owners); }

  /// Sets the owner's deadline; Instant::never() removes it.
  void set(uint32_t owner, Instant at) {
    Owner& o = owners_[owner];
    o.at = at;
    const uint32_t place = place_[owner];
    if (place == kNone) {
      if (at.is_never()) return;
      if (waiting_++ == 0) base_ = std::max<int64_t>(at.ns >> kBits[0] << kBits[0], 0);
      insert(owner);
    } else if (at < o.comes_up) {
      if (place < kInBucket) {
        o.comes_up = heap_[place].at = at;
        up(place);
      } else {
        insert(owner);  // what stands in the later bucket is passed over
      }
    }
    settle();
  }
  Instant earliest() const { return heap_.empty() ? Instant::never() : heap_.front().at; }
  uint32_t earliest_owner() const {
    MRDMA_CHECK(!heap_.empty());
    return heap_.front().owner;
  }
  /// The owner's deadline will be set soon.
  void prefetch(uint32_t owner) const { prefetch_line(&owners_[owner]); }

 private:
  static constexpr uint32_t kNone = 0xffffffff;
  static constexpr uint32_t kInBucket = 0x80000000;  ///< of a place: the rest is the bucket
  static constexpr size_t kLevels = 3;
  static constexpr int64_t kBuckets = 1024;                     ///< of each level
  static constexpr std::array<int, kLevels> kBits{16, 26, 36};  ///< ns of a bucket: 66 us, 67 ms, 69 s
  static constexpr size_t kAhead = 8;     ///< owners of a bucket that are on their way from memory
  static constexpr size_t kCrowd = 1024;  ///< in the heap: more are worth a look whether they belong there

  struct Owner {
    Instant at = Instant::never();
    Instant comes_up;  ///< in the heap: its time there; in a bucket: not after the bucket's begin
  };
  struct Node {
    Instant at;  ///< not after the owner's
    uint32_t owner;
  };

  // Where the owner belongs. All that is due before base_ stands in the heap.
  void insert(uint32_t owner) {
    Owner& o = owners_[owner];
    if (o.at.ns < base_) {
      o.comes_up = o.at;
      heap_.push_back({o.at, owner});
      up(heap_.size() - 1);
      return;
    }
    size_t level = 0;
    int64_t n = o.at.ns >> kBits[0];
    while (n - (base_ >> kBits[level]) >= kBuckets && level + 1 < kLevels) n = o.at.ns >> kBits[++level];
    n = std::min(n, (base_ >> kBits[level]) + kBuckets - 1);
    o.comes_up = Instant{n << kBits[level]};
    link(owner, level, n);
  }
  void link(uint32_t owner, size_t level, int64_t n) {
    const auto slot = static_cast<uint32_t>(n % kBuckets);
    const auto bucket = static_cast<uint32_t>(level * kBuckets) + slot;
    place_[owner] = kInBucket | bucket;
    buckets_[bucket].push_back(owner);
    filled_[level][slot / 64] |= uint64_t{1} << (slot % 64);
  }
  void mark_empty(uint32_t bucket) {
    const uint32_t slot = bucket % kBuckets;
    filled_[bucket / kBuckets][slot / 64] &= ~(uint64_t{1} << (slot % 64));
  }

  // The first of the heap is what its owner wants, and nothing in a bucket is before it.
  void settle() {
    for (;;) {
      settle_heap();
      if (!heap_.empty() || waiting_ == 0) break;
      open_next_bucket();
    }
    if (heap_.size() > crowd_) spread_heap();
  }
  void settle_heap() {
    while (!heap_.empty()) {
      const uint32_t owner = heap_.front().owner;
      Owner& o = owners_[owner];
      if (o.at == heap_.front().at) return;
      if (!o.at.is_never() && o.at.ns < base_) {
        o.comes_up = heap_.front().at = o.at;
        down(0);
        continue;
      }
      remove_first();
      again(owner);
    }
  }
  // An owner that stands nowhere at present.
  void again(uint32_t owner) {
    Owner& o = owners_[owner];
    place_[owner] = kNone;
    if (o.at.is_never()) {
      --waiting_;
    } else {
      insert(owner);
    }
  }
  void open_next_bucket() {
    size_t level = 0;
    int64_t begin = std::numeric_limits<int64_t>::max(), number = 0;
    // Of two that begin together the wider one goes first: it may hold what is earlier.
    for (size_t l = 0; l < kLevels; ++l) {
      const int64_t n = first_filled(l);
      if (n < 0 || (n << kBits[l]) > begin) continue;
      level = l;
      number = n;
      begin = n << kBits[l];
    }
    base_ = std::max(base_, level == 0 ? (number + 1) << kBits[0] : begin);
    const auto bucket = static_cast<uint32_t>(level * kBuckets + static_cast<size_t>(number % kBuckets));
    opened_.swap(buckets_[bucket]);
    mark_empty(bucket);
    for (size_t i = 0; i < opened_.size(); ++i) {
      if (i + kAhead < opened_.size()) prefetch(opened_[i + kAhead]);
      if (place_[opened_[i]] == (kInBucket | bucket)) again(opened_[i]);
    }
    opened_.clear();
  }
  // Its number counted from time 0; -1: the level is empty.
  int64_t first_filled(size_t level) const {
    const int64_t from = base_ >> kBits[level];
    const auto start = static_cast<uint32_t>(from % kBuckets);
    for (uint32_t step = 0; step <= kBuckets / 64; ++step) {
      const uint32_t word = (start / 64 + step) % (kBuckets / 64);
      uint64_t bits = filled_[level][word];
      if (step == 0) bits &= ~uint64_t{0} << (start % 64);
      if (step == kBuckets / 64) bits &= ~(~uint64_t{0} << (start % 64));
      if (bits == 0) continue;
      const uint32_t slot = word * 64 + static_cast<uint32_t>(std::countr_zero(bits));
      return from + (slot - start + kBuckets) % kBuckets;
    }
    return -1;
  }
  // Nothing was due for long, and base_ went far ahead: what has come since belongs into buckets.
  void spread_heap() {
    std::vector<uint32_t> all;
    all.reserve(heap_.size());
    for (const Node& n : heap_) all.push_back(n.owner);
    base_ = std::max<int64_t>(heap_.front().at.ns >> kBits[0] << kBits[0], 0);
    heap_.clear();
    for (const uint32_t owner : all) again(owner);
    while (heap_.empty() && waiting_ != 0) open_next_bucket(), settle_heap();
    crowd_ = std::max(kCrowd, heap_.size() * 2);
  }

  // Ties are broken by owner so that the order never depends on history.
  static bool less(const Node& a, const Node& b) { return a.at < b.at || (a.at == b.at && a.owner < b.owner); }
  void place(size_t i, Node n) {
    heap_[i] = n;
    place_[n.owner] = static_cast<uint32_t>(i);
  }
  void up(size_t i) {
    const Node n = heap_[i];
    while (i > 0 && less(n, heap_[(i - 1) / 2])) {
      place(i, heap_[(i - 1) / 2]);
      i = (i - 1) / 2;
    }
    place(i, n);
  }
  void down(size_t i) {
    const Node n = heap_[i];
    for (;;) {
      size_t c = 2 * i + 1;
      if (c >= heap_.size()) break;
      if (c + 1 < heap_.size() && less(heap_[c + 1], heap_[c])) ++c;
      if (!less(heap_[c], n)) break;
      place(i, heap_[c]);
      i = c;
    }
    place(i, n);
  }
  void remove_first() {
    const Node last = heap_.back();
    heap_.pop_back();
    if (heap_.empty()) return;
    place(0, last);
    down(0);
  }

  std::vector<Owner> owners_;
  std::vector<uint32_t> place_;  ///< of each owner; apart and small, since a heap moves many
  std::vector<Node> heap_;
  /// Their memory grows to what was needed once. An owner may stand in more than one; its place tells which
  /// counts.
  std::array<std::vector<uint32_t>, kLevels * kBuckets> buckets_;
  std::vector<uint32_t> opened_;
  std::array<std::array<uint64_t, kBuckets / 64>, kLevels> filled_{};
  int64_t base_ = 0;
  size_t waiting_ = 0;  ///< owners that stand somewhere
  size_t crowd_ = kCrowd;
};

}  // namespace matchrdma
