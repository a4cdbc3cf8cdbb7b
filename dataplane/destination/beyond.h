#pragma once
// What came over the span behind a hole.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "dataplane/base/check.h"
#include "dataplane/base/packet.h"
#include "dataplane/base/seq_map.h"
#include "dataplane/base/types.h"

namespace matchrdma {

/// Duty: packets by PSN, and the ranges that they make, so that telling of the holes costs by holes and not by
/// packets. Knows no limits.
class Beyond {
 public:
  explicit Beyond(NodePool* pool) : packets_(pool), ranges_(pool) {}

  bool empty() const { return packets_.empty(); }
  size_t size() const { return packets_.size(); }
  uint64_t bytes() const { return bytes_; }
  /// End by begin, ascending, none touching the next.
  const SeqMap<Seq>& ranges() const { return ranges_; }

  /// [psn, end) of the packet. False if that PSN is here: nothing has changed.
  bool add(Seq psn, Seq end, PacketRef packet) {
    const uint32_t bytes = packet->size;
    const size_t before = packets_.size();
    packets_.try_emplace(packets_.end(), psn, std::move(packet));
    if (packets_.size() == before) return false;
    bytes_ += bytes;
    join(psn, end);
    return true;
  }
  Seq first() const { return packets_.begin()->first; }
  /// The oldest. Its range goes with forget_taken().
  PacketRef pop_first() {
    auto node = packets_.extract(packets_.begin());
    bytes_ -= node.mapped()->size;
    return std::move(node.mapped());
  }
  /// The newest goes; returns its bytes.
  uint32_t drop_last() {
    const auto last = std::prev(packets_.end());
    const uint32_t bytes = last->second->size;
    const auto range = std::prev(ranges_.end());
    MRDMA_CHECK(range->first <= last->first && last->first < range->second);
    range->second = last->first;
    if (range->first == range->second) ranges_.erase(range);
    packets_.erase(last);
    bytes_ -= bytes;
    return bytes;
  }
  /// The ranges of what pop_first() has given go too.
  void forget_taken() {
    if (empty()) return ranges_.clear();
    const Seq psn = first();
    while (!ranges_.empty() && ranges_.begin()->second <= psn) ranges_.erase(ranges_.begin());
    if (ranges_.empty() || ranges_.begin()->first >= psn) return;
    auto node = ranges_.extract(ranges_.begin());
    node.key() = psn;
    ranges_.insert(std::move(node));
  }
  void clear() {
    packets_.clear();
    ranges_.clear();
    bytes_ = 0;
  }

 private:
  // Nearly always at the end of the last range, or behind it.
  void join(Seq begin, Seq end) {
    if (!ranges_.empty() && ranges_.rbegin()->second == begin) {
      ranges_.rbegin()->second = end;
      return;
    }
    auto next = ranges_.lower_bound(begin);
    if (next != ranges_.begin()) {
      const auto before = std::prev(next);
      if (before->second >= begin) {
        begin = before->first;
        end = std::max(end, before->second);
        next = ranges_.erase(before);
      }
    }
    while (next != ranges_.end() && next->first <= end) {
      end = std::max(end, next->second);
      next = ranges_.erase(next);
    }
    ranges_.emplace_hint(next, begin, end);
  }

  SeqMap<PacketRef> packets_;
  SeqMap<Seq> ranges_;
  uint64_t bytes_ = 0;
};

}  // namespace matchrdma
