#pragma once
// What was asked of the peer about QP pairs.
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "dataplane/flow/message.h"

namespace matchrdma {

/// REGISTER or UNREGISTER, repeated until the peer answers. An answered REGISTER is remembered: a peer that
/// starts anew is asked again.
struct Asked {
  Registration reg;
  bool unregister = false;
  bool answered = false;
  Instant said, retry_at;
};

/// Duty: at most one thing asked for each pair, found by the pair and by when it is due. Does not speak itself.
class AskedBook {
 public:
  /// nullptr: nothing was asked about this pair, whatever the starts and the rest of its registration are.
  const Asked* find(const Registration& pair) const {
    const auto it = numbers_.find(key(pair));
    return it == numbers_.end() ? nullptr : &all_.at(it->second);
  }
  /// Replaces what was asked about the pair.
  void put(const Asked& a) {
    erase(a.reg);
    const uint64_t number = next_++;
    numbers_[key(a.reg)] = number;
    all_[number] = a;
    watch(number, a);
  }
  /// `a` as it is now, for the same pair; a.retry_at is when it is due unless it is answered.
  void update(const Asked& a) {
    const uint64_t number = numbers_.at(key(a.reg));
    unwatch(number, all_.at(number));
    all_.at(number) = a;
    watch(number, a);
  }
  void erase(const Registration& pair) {
    const auto it = numbers_.find(key(pair));
    if (it == numbers_.end()) return;
    const Asked& a = all_.at(it->second);
    unwatch(it->second, a);
    all_.erase(it->second);
    numbers_.erase(it);
  }
  /// The unanswered one that is due first; none: all are answered.
  const Asked* first_due() const { return due_.empty() ? nullptr : &all_.at(due_.begin()->second); }
  bool unregistering() const { return unregistering_ != 0; }
  /// A peer without memory has answered nothing: all are due at `now`.
  void forget_answers(Instant now) {
    due_.clear();
    for (auto& [number, a] : all_) {
      a.answered = false;
      a.retry_at = now;
      due_.emplace(now, number);
    }
  }

 private:
  using Pair = std::pair<FlowKey, FlowKey>;
  struct Hash {
    size_t operator()(const Pair& p) const { return p.first.hash() ^ (p.second.hash() * 3); }
  };
  static Pair key(const Registration& r) { return {r.flow(true), r.flow(false)}; }
  void watch(uint64_t number, const Asked& a) {
    if (!a.answered) due_.emplace(a.retry_at, number);
    if (a.unregister) ++unregistering_;
  }
  void unwatch(uint64_t number, const Asked& a) {
    if (!a.answered) due_.erase({a.retry_at, number});
    if (a.unregister) --unregistering_;
  }

  std::map<uint64_t, Asked> all_;  ///< in the order in which they were asked
  std::unordered_map<Pair, uint64_t, Hash> numbers_;
  std::set<std::pair<Instant, uint64_t>> due_;
  uint64_t next_ = 0;
  uint64_t unregistering_ = 0;
};

}  // namespace matchrdma
