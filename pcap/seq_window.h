#pragma once
// Values by PSN, for the few thousand PSNs around the front of one flow.
#include <algorithm>
#include <cstddef>
#include <deque>

#include "dataplane/base/types.h"

namespace matchrdma {

/// The unwrapped number of a wire PSN in a flow whose newest is `near`. A step far back is a new generation
/// (the QP was used anew), which is numbered above all that was: PSNs of two lives never meet.
constexpr Seq place_psn(Psn psn, Seq near) {
  constexpr Seq kNewLife = 1 << 22;
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
    return slots_.insert(slots_.begin() + static_cast<std::ptrdiff_t>(i), Slot{seq, T{}})->value;
  }
  auto begin() { return slots_.begin(); }
  auto end() { return slots_.end(); }
  auto begin() const { return slots_.begin(); }
  auto end() const { return slots_.end(); }

 private:
  /// Index of the first slot not below `seq`.
  size_t place(Seq seq) const {
    if (slots_.empty() || slots_.back().seq < seq) return slots_.size();
    const Seq behind = slots_.back().seq - seq;
    const size_t last = slots_.size() - 1;
    if (behind <= static_cast<Seq>(last) && slots_[last - static_cast<size_t>(behind)].seq == seq)
      return last - static_cast<size_t>(behind);
    const auto below = [](const Slot& s, Seq v) { return s.seq < v; };
    return static_cast<size_t>(std::lower_bound(slots_.begin(), slots_.end(), seq, below) - slots_.begin());
  }
  std::deque<Slot> slots_;
};

}  // namespace matchrdma
