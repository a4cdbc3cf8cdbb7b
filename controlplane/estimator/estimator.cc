#include "controlplane/estimator/estimator.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace matchrdma {
namespace {

constexpr Duration kIdle = Duration::seconds(1);
// What an idle receiver's sender may begin with is told in its last slots, since nothing is told after them.
// Any of them may be lost.
constexpr int64_t kLastSlots = 3;
constexpr Duration kIdleValidity = Duration::seconds(3600);
constexpr double kStart = 0.5;  // of the line, for a receiver of which nothing is known

}  // namespace

Estimator::Estimator(const EstimatorSettings& settings, uint32_t max_groups)
    : settings_(settings),
      port_(static_cast<double>(settings.port().bps) / 1e9),
      idle_slots_(kIdle.ns / settings.slot.ns),
      last_slot_(std::numeric_limits<int64_t>::min()),
      groups_(max_groups) {
  const double line = Scale(settings).line;
  for (Group& g : groups_) g.seed.c = kStart * line;
}

void Estimator::place(uint32_t group, const GroupPlace& place) {
  const bool moved = groups_[group].place.port != place.port;
  groups_[group].place = place;
  if (moved && groups_[group].listed) sort_active();
}

void Estimator::record(uint32_t group, const SlotRecord& r) {
  Group& g = groups_[group];
  g.record.merge(r);
  if (g.listed || r.empty()) return;
  g.listed = true;
  active_.push_back(group);
  sort_active();
}

void Estimator::sort_active() {
  std::sort(active_.begin(), active_.end(), [this](uint32_t a, uint32_t b) {
    return std::pair(groups_[a].place.port, a) < std::pair(groups_[b].place.port, b);
  });
}

std::span<const GroupOutput> Estimator::close(int64_t slot) {
  outputs_.clear();
  ports_.clear();
  if (slot <= last_slot_) return outputs_;
  last_slot_ = slot;
  retire_idle(slot);
  for (const uint32_t i : active_) {
    Group& g = groups_[i];
    if (g.unseen) continue;
    if (!g.estimator) g.estimator = std::make_unique<GroupEstimator>(settings_, g.seed, slot);
    g.estimator->observe(g.record, slot, g.place.one_way);
    g.record = {};
  }
  for (auto first = active_.begin(); first != active_.end();) {
    const uint32_t port = groups_[*first].place.port;
    const auto last =
        std::find_if(first, active_.end(), [&](uint32_t i) { return groups_[i].place.port != port; });
    share_port({first, last});
    first = last;
  }
  for (const uint32_t i : active_) groups_[i].unseen = false;
  return outputs_;
}

void Estimator::retire_idle(int64_t slot) {
  std::erase_if(active_, [&](uint32_t i) {
    Group& g = groups_[i];
    if (!g.record.empty() || g.unseen) g.last_bytes = slot;
    if (slot - g.last_bytes <= idle_slots_) return false;
    if (g.estimator) g.seed = g.estimator->seed();
    g.estimator.reset();
    g.record = {};
    g.listed = false;
    return true;
  });
}

void Estimator::share_port(std::span<const uint32_t> groups) {
  PortTotal total{.port = groups_[groups.front()].place.port, .groups = static_cast<uint32_t>(groups.size())};
  claims_.clear();
  seen_.clear();
  std::copy_if(groups.begin(), groups.end(), std::back_inserter(seen_),
               [this](uint32_t i) { return !groups_[i].unseen; });
  for (const uint32_t i : seen_) {
    const GroupEstimator& e = *groups_[i].estimator;
    total.wanted += e.output().why.wanted;
    claims_.push_back({e.demand(), groups_[i].place.weight});
  }
  std::span<const double> shares;
  if (total.wanted > port_) shares = fair_.share(port_, claims_);
  for (size_t n = 0; n < seen_.size(); ++n) {
    GroupEstimator& e = *groups_[seen_[n]].estimator;
    const bool last = last_slot_ - groups_[seen_[n]].last_bytes > idle_slots_ - kLastSlots;
    const SlotOutput& out = e.grant(shares.empty() ? e.output().why.wanted : shares[n],
                                    last ? kIdleValidity : budget_validity(settings_.slot));
    total.granted += out.why.granted;
    outputs_.push_back({seen_[n], &out});
  }
  ports_.push_back(total);
}

size_t Estimator::bytes() const {
  size_t sum = 0;
  for (const uint32_t i : active_) {
    if (groups_[i].estimator) sum += groups_[i].estimator->bytes();
  }
  return sum;
}

}  // namespace matchrdma
