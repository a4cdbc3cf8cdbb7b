#include "host/planner/event_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "host/planner/completion.h"

namespace matchrdma::planner {

Losses::Losses(double chance, uint64_t seed) : log_arrives_(std::log1p(-chance)), random_(seed) { draw(); }

/// Always true, for next_is_lost().
bool Losses::draw() {
  constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
  const double gap = log_arrives_ == 0 ? 1e18 : std::log1p(-random_.unit()) / log_arrives_;
  until_next_ = gap < 1e18 ? static_cast<int64_t>(gap) : kNever;
  return true;
}

EventModel::EventModel(const Link& link, uint64_t message_bytes, const Scheme& scheme, uint64_t seed)
    : line_(link, message_bytes), scheme_(scheme), losses_(line_.loss, seed) {}

int64_t EventModel::next() {
  now_ = done_ = new_ = sent_ = group_data_ = group_sent_ = 0;
  return scheme_.method == Method::kGoBackN ? go_back() : repeat_selectively();
}

int64_t EventModel::repeat_selectively() {
  while (new_ < line_.packets || group_sent_ > 0 || !resends_.empty()) {
    const bool nothing_new = new_ == line_.packets && group_sent_ == 0;
    if (nothing_new) now_ = std::max(now_, resends_.front() - 1);
    ++now_;
    ++sent_;
    if (resends_.empty() || resends_.front() > now_) {
      send_new();
      continue;
    }
    resends_.pop_front();
    if (losses_.next_is_lost())
      resends_.push_back(now_ + line_.round);
    else
      done_ = now_;
  }
  return done_;
}

void EventModel::send_new() {
  const bool lost = losses_.next_is_lost();
  if (scheme_.method == Method::kErasureCode) return send_coded(lost);
  ++new_;
  if (lost)
    resends_.push_back(now_ + line_.round);
  else
    done_ = now_;
}

/// Data chunks, then parity chunks: the i-th packet of a chunk is of the i-th codeword.
void EventModel::send_coded(bool lost) {
  const Code& code = scheme_.code;
  if (group_sent_ == 0) {
    group_data_ = std::min(line_.packets - new_, int64_t{code.k} * code.chunk_packets);
    lost_.assign(static_cast<size_t>((group_data_ + code.k - 1) / code.k), 0);
  }
  const auto words = static_cast<int64_t>(lost_.size());
  const bool is_data = group_sent_ < group_data_;
  const int64_t in_chunks = is_data ? group_sent_ : group_sent_ - group_data_;
  if (lost) ++lost_[static_cast<size_t>(in_chunks % words)];
  if (is_data) ++new_;
  if (++group_sent_ == group_data_ + words * code.m) end_group();
}

void EventModel::end_group() {
  for (const uint32_t lost : lost_)
    for (uint32_t owed = scheme_.code.m; owed < lost; ++owed) resends_.push_back(now_ + line_.round);
  group_sent_ = 0;
  done_ = now_;
}

int64_t EventModel::go_back() {
  while (new_ < line_.packets) {
    ++now_;
    ++sent_;
    if (!losses_.next_is_lost()) {
      ++new_;
      continue;
    }
    // What follows is discarded, until the sender is back at this packet.
    const int64_t wasted = line_.round - 1;
    sent_ += std::min(wasted, line_.packets - new_ - 1);
    now_ += wasted;
  }
  return now_;
}

double largest_difference(const Completion& formula, std::vector<int64_t> played) {
  std::sort(played.begin(), played.end());
  const auto all = static_cast<double>(played.size());
  double most = 0;
  for (size_t i = 0; i < played.size();) {
    size_t end = i;
    while (end < played.size() && played[end] == played[i]) ++end;
    // Right before a step, and on it.
    const double before = formula.cdf_packet_times(played[i] - 1), on = formula.cdf_packet_times(played[i]);
    most = std::max(
        {most, std::abs(before - static_cast<double>(i) / all), std::abs(on - static_cast<double>(end) / all)});
    i = end;
  }
  return most;
}

double allowed_difference(uint64_t messages) {
  constexpr double kAgreed = 0.03, kOnceIn = 1e6;
  return std::max(kAgreed, std::sqrt(std::log(2 * kOnceIn) / (2 * static_cast<double>(messages))));
}

}  // namespace matchrdma::planner
