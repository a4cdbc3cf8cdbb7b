#pragma once
// One deadline per owner, in an indexed binary heap of fixed capacity. Chosen over a timer wheel because the
// replayer and the simulator need the exact earliest deadline (docs/decisions/0003).
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "dataplane/base/check.h"
#include "dataplane/base/time.h"

namespace matchrdma {

/// A deadline that moves later, as most do with every packet, is only noted; the heap is put in order when the
/// old one comes up. What earliest() says is exact all the same.
class DeadlineHeap {
 public:
  explicit DeadlineHeap(uint32_t owners, std::pmr::memory_resource* memory = std::pmr::get_default_resource())
      : owners_(owners, memory), heap_(memory) {
    heap_.reserve(owners);
  }

  /// Sets the owner's deadline; Instant::never() removes it.
  void set(uint32_t owner, Instant at) {
    Owner& o = owners_[owner];
    o.at = at;
    if (o.place == kNone) {
      if (at.is_never()) return;
      heap_.push_back({at, owner});
      up(heap_.size() - 1);
    } else if (at < heap_[o.place].at) {
      heap_[o.place].at = at;
      up(o.place);
    }
    settle();
  }
  Instant earliest() const { return heap_.empty() ? Instant::never() : heap_.front().at; }
  uint32_t earliest_owner() const {
    MRDMA_CHECK(!heap_.empty());
    return heap_.front().owner;
  }
  /// The owner's deadline will be set soon.
  void prefetch(uint32_t owner) const { __builtin_prefetch(&owners_[owner], 1); }

 private:
  static constexpr uint32_t kNone = 0xffffffff;
  struct Owner {
    Instant at = Instant::never();
    uint32_t place = kNone;
  };
  struct Node {
    Instant at;  ///< not after the owner's
    uint32_t owner;
  };
  // Ties are broken by owner so that the order never depends on history.
  static bool less(const Node& a, const Node& b) { return a.at < b.at || (a.at == b.at && a.owner < b.owner); }
  // The first of the heap is what its owner wants; for the others their turn is early enough.
  void settle() {
    while (!heap_.empty()) {
      Node& first = heap_.front();
      const Instant at = owners_[first.owner].at;
      if (at == first.at) return;
      if (at.is_never()) {
        remove_first();
        continue;
      }
      first.at = at;
      down(0);
    }
  }
  void place(size_t i, Node n) {
    heap_[i] = n;
    owners_[n.owner].place = static_cast<uint32_t>(i);
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
    owners_[heap_.front().owner].place = kNone;
    const Node last = heap_.back();
    heap_.pop_back();
    if (heap_.empty()) return;
    place(0, last);
    down(0);
  }
  std::pmr::vector<Owner> owners_;
  std::pmr::vector<Node> heap_;
};

}  // namespace matchrdma
