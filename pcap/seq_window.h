#pragma once
// Values by PSN, for the few thousand PSNs around the front of one flow.
#include <cstddef>

#include "dataplane/base/types.h"
#include "model/growing_ring.h"

namespace matchrdma {

/// The unwrapped number of a wire PSN in a flow whose newest is `near`. A step far back is a new generation
/// (the QP was used anew), which is numbered above all that was: PSNs of two lives never meet.
constexpr Seq place_psn(Psn psn, Seq near) {
  constexpr Seq kNewLife = 1 << 18;  // more than any sender has outstanding
  const Seq s = unwrap24(psn.v, near);
  return s < near - kNewLife ? s + (Seq{1} << 24) : s;
}

/// Sorted by PSN; cheap at its back and for gapless runs, where the place of a PSN can be computed.
template <class T>
class SeqWindow {
 public:
  struct Slot {
    Seq seq = 0;
    T value{};
  };

  bool empty() const { return slots_.empty(); }
  size_t size() const { return slots_.size(); }
  Slot& front() { return slots_.front(); }
  Slot& back() { return slots_.back(); }
  const Slot& operator[](size_t i) const { return slots_[i]; }
  Slot& operator[](size_t i) { return slots_[i]; }
  void pop_front() { slots_.pop_front(); }

  T* find(Seq seq) {
    const size_t i = place(seq);
    return i < slots_.size() && slots_[i].seq == seq ? &slots_[i].value : nullptr;
  }
  /// The slot with the highest PSN not above `seq`.
  Slot* at_or_below(Seq seq) {
    const size_t i = place(seq);
    if (i < slots_.size() && slots_[i].seq == seq) return &slots_[i];
    return i == 0 ? nullptr : &slots_[i - 1];
  }
  /// The value at `seq`, made if it was not there.
  T& at(Seq seq) {
    if (slots_.empty() || slots_.back().seq < seq) {
      slots_.push_back({seq, T{}});
      return slots_.back().value;
    }
    const size_t i = place(seq);
    if (slots_[i].seq == seq) return slots_[i].value;
    slots_.insert(i, {seq, T{}});
    return slots_[i].value;
  }

 private:
  /// Index of the first slot not below `seq`.
  size_t place(Seq seq) const {
    if (slots_.empty() || slots_.back().seq < seq) return slots_.size();
    const Seq behind = slots_.back().seq - seq;
    const size_t last = slots_.size() - 1;
    if (behind <= static_cast<Seq>(last) && slots_[last - static_cast<size_t>(behind)].seq == seq)
      return last - static_cast<size_t>(behind);
    size_t low = 0, high = last;
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (slots_[middle].seq < seq) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  model::GrowingRing<Slot> slots_;
};

}  // namespace matchrdma
