#include "controlplane/estimator/budget_maker.h"

#include <algorithm>
#include <utility>

namespace matchrdma {

BudgetMaker::BudgetMaker(const EstimatorSettings& settings, uint32_t workers, uint32_t max_groups)
    : settings_(settings), workers_(workers), max_groups_(max_groups), estimator_(settings, max_groups) {}

uint32_t BudgetMaker::number_of(const GroupKey& key) {
  if (const uint32_t* known = numbers_.find(key)) return *known;
  if (groups_.size() == max_groups_) return kNoGroup;
  const auto number = static_cast<uint32_t>(groups_.size());
  numbers_.add(key, number);
  groups_.emplace_back().key = key;
  groups_.back().said.resize(workers_);
  return number;
}

void BudgetMaker::record(uint32_t worker, std::span<const GroupSlot> slots) {
  for (const GroupSlot& s : slots) {
    const uint32_t number = number_of(s.group);
    if (number == kNoGroup) {
      ++counts_.no_room;
      continue;
    }
    Group& g = groups_[number];
    if (!std::exchange(g.live, true)) live_.push_back(number);
    Said& said = g.said[worker];
    if (said.waits) ++counts_.late;
    said.slot = s.slot;
    said.more = s.more;
    said.waits = true;
    said.record = s.record;
    records_ = true;
  }
}

void BudgetMaker::look(uint32_t worker, std::span<const GroupSlot> parts) {
  for (const GroupSlot& p : parts) {
    const uint32_t* number = numbers_.find(p.group);
    if (number == nullptr) continue;
    Group& g = groups_[*number];
    Said& said = g.said[worker];
    said.part_slot = p.slot;
    said.part = p.record;
    if (!std::exchange(g.looked, true)) looked_.push_back(*number);
  }
}

bool BudgetMaker::owed(int64_t slot) const {
  return std::any_of(live_.begin(), live_.end(), [this, slot](uint32_t n) {
    const auto& said = groups_[n].said;
    return std::any_of(said.begin(), said.end(), [slot](const Said& s) { return s.more && s.slot < slot; });
  });
}

std::span<const WorkerBudget> BudgetMaker::run(Instant now, Duration one_way) {
  budgets_.clear();
  wait_until_ = Instant::never();
  const int64_t newest = now.ns / settings_.slot.ns - 1;
  if (newest > closed_) {
    const Instant patience{(closed_ + 3) * settings_.slot.ns};
    if (owed(newest) && now < patience) {
      wait_until_ = patience;
    } else {
      close(newest, one_way);
    }
  }
  if (!looked_.empty()) tighten(one_way);
  return budgets_;
}

Instant BudgetMaker::next_deadline() const {
  if (!wait_until_.is_never()) return wait_until_;
  if (!records_ && why_.empty()) return Instant::never();
  return Instant{(closed_ + 2) * settings_.slot.ns};
}

// False: nobody knows what happened in the slot.
bool BudgetMaker::take(uint32_t number, int64_t slot) {
  bool known = false, unknown = false;
  for (Said& s : groups_[number].said) {
    const bool ended = s.waits && s.slot <= slot;
    s.arrived = ended ? static_cast<double>(s.record.arrived_bytes) : 0;
    if (ended) estimator_.record(number, s.record);
    known = known || ended;
    unknown = unknown || (s.more && !ended);
    s.waits = s.waits && !ended;
    records_ = records_ || s.waits;
  }
  return known || !unknown;
}

void BudgetMaker::close(int64_t slot, Duration one_way) {
  why_.clear();
  closed_ = slot;
  records_ = false;
  for (const uint32_t n : live_) {
    Group& g = groups_[n];
    g.told = false;
    if (g.one_way != one_way) {
      g.one_way = one_way;
      estimator_.place(n, {.one_way = one_way});
    }
    if (!take(n, slot)) estimator_.skip(n);
  }
  for (const GroupOutput& o : estimator_.close(slot)) {
    Group& g = groups_[o.group];
    g.told = true;
    share(g, o.slot->budget, o.slot->why);
    why_.push_back({g.key, o.slot});
  }
  std::erase_if(live_, [this](uint32_t n) {
    Group& g = groups_[n];
    const bool owes =
        std::any_of(g.said.begin(), g.said.end(), [](const Said& s) { return s.more || s.waits; });
    g.live = g.told || owes;
    return !g.live;
  });
}

// Who is not strained was not looked at: there it goes on as in the slot before.
SlotRecord BudgetMaker::strain_of(const Group& g) const {
  const auto looked_at = [&](const Said& s) { return s.part_slot > closed_; };
  SlotRecord all;
  for (const Said& s : g.said) {
    if (looked_at(s)) all.merge(s.part);
  }
  const auto part_of = [&](uint64_t bytes, uint64_t ns) {
    return static_cast<uint64_t>(static_cast<double>(bytes) * static_cast<double>(ns) /
                                 static_cast<double>(settings_.slot.ns));
  };
  for (const Said& s : g.said) {
    if (looked_at(s) || s.slot < closed_) continue;
    const SlotRecord before = s.record.per(settings_.slot);
    SlotRecord r;
    r.acked_bytes = part_of(before.acked_bytes, all.covered_ns);
    r.packets = part_of(before.packets, all.covered_ns);
    r.busy_acked_bytes = part_of(before.acked_bytes, all.busy_ns);
    r.held_bytes = part_of(before.egress_bytes, all.held_ns);
    all.merge(r);
  }
  return all;
}

void BudgetMaker::tighten(Duration one_way) {
  for (const uint32_t n : looked_) {
    Group& g = groups_[n];
    g.looked = false;
    GroupEstimator* estimator = estimator_.active(n);
    if (estimator == nullptr) continue;
    const SlotRecord strain = strain_of(g);
    const auto lower = estimator->tighten(strain, Duration{static_cast<int64_t>(strain.covered_ns)}, one_way);
    if (!lower) continue;
    ++counts_.lowered;
    share(g, *lower, estimator->output().why);
  }
  looked_.clear();
}

// Every worker of the source has its own gate: together they may send what the receiver takes. A worker may
// double what it sent within a slot, and one that sent nothing may begin: a quarter of an equal part is for
// each.
void BudgetMaker::share(const Group& g, const GrantedBudget& granted, const SlotWhy& why) {
  const auto rate = static_cast<double>(granted.rate.bps);
  claims_.clear();
  for (const Said& s : g.said) {
    const double seen = 2 * s.arrived * 8e9 / static_cast<double>(settings_.slot.ns);
    claims_.push_back({std::max(seen, rate / (4 * workers_)), 1});
  }
  const std::span<const double> shares = fair_.share(rate, claims_);
  const Duration least{static_cast<int64_t>(why.min_delay_ns)};
  for (uint32_t w = 0; w < workers_; ++w) {
    const Rate part{std::max<int64_t>(1, static_cast<int64_t>(shares[w]))};
    budgets_.push_back({w, {{g.key, part, granted.validity, granted.seq}, least}});
  }
}

}  // namespace matchrdma
