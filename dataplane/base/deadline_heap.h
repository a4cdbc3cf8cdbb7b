#pragma once
// One deadline per owner, in an indexed binary heap of fixed capacity. Chosen over a timer wheel because the
// replayer and the simulator need the exact earliest deadline (docs/decisions/0003).
#include <cstdint>
#include <vector>

#include "dataplane/base/check.h"
#include "dataplane/base/time.h"

namespace matchrdma {

class DeadlineHeap {
 public:
  explicit DeadlineHeap(uint32_t owners) : pos_(owners, kNone) { heap_.reserve(owners); }

  /// Sets the owner's deadline; Instant::never() removes it.
  void set(uint32_t owner, Instant at) {
    const uint32_t p = pos_[owner];
    if (at.is_never()) {
      if (p != kNone) remove_at(p);
      return;
    }
    if (p == kNone) {
      heap_.push_back({at, owner});
      pos_[owner] = static_cast<uint32_t>(heap_.size() - 1);
      up(heap_.size() - 1);
      return;
    }
    const Instant old = heap_[p].at;
    heap_[p].at = at;
    if (at < old) {
      up(p);
    } else {
      down(p);
    }
  }
  Instant earliest() const { return heap_.empty() ? Instant::never() : heap_.front().at; }
  uint32_t earliest_owner() const {
    MRDMA_CHECK(!heap_.empty());
    return heap_.front().owner;
  }

 private:
  static constexpr uint32_t kNone = 0xffffffff;
  struct Node {
    Instant at;
    uint32_t owner;
  };
  // Ties are broken by owner so that the order never depends on history.
  static bool less(const Node& a, const Node& b) { return a.at < b.at || (a.at == b.at && a.owner < b.owner); }
  void place(size_t i, Node n) {
    heap_[i] = n;
    pos_[n.owner] = static_cast<uint32_t>(i);
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
  void remove_at(uint32_t p) {
    pos_[heap_[p].owner] = kNone;
    const Node last = heap_.back();
    heap_.pop_back();
    if (p < heap_.size()) {
      place(p, last);
      up(p);
      down(pos_[last.owner]);
    }
  }
  std::vector<Node> heap_;
  std::vector<uint32_t> pos_;
};

}  // namespace matchrdma
