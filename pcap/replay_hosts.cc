#include "pcap/replay_hosts.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace matchrdma {

ReplayHosts::ReplayHosts(const TraceFlows& flows, Causality& causality)
    : causality_(causality), hosts_(flows.sites().hosts().size()), waiting_(flows.streams().size() + 1) {
  for (size_t i = 0; i < hosts_.size(); ++i) hosts_[i].unread = flows.sites().hosts()[i].packets;
}

void ReplayHosts::push(FedPacket p, Instant now) {
  Host& h = hosts_[static_cast<size_t>(p.host)];
  if (h.unread > 0 && --h.unread == 0) shift_changed_ = true;
  ++queued_;
  queued_bytes_ += p.packet->size;
  const int host = p.host;
  h.queue.push_back(std::move(p));
  if (h.queue.size() == 1) evaluate(host, now);
}

void ReplayHosts::evaluate(int host, Instant now) {
  Host& h = hosts_[static_cast<size_t>(host)];
  if (h.queue.empty()) return;
  const FedPacket& p = h.queue.front();
  const Instant unshifted = p.captured + origin_;
  Instant entry = later(unshifted + h.shift, h.last_entry);
  if (!h.released) {
    const auto cause = causality_.fulfilled(p.dependency);
    if (!cause) {
      block(host, p.dependency);
      return;
    }
    if (p.dependency.kind != Dependency::Kind::kNone) entry = later(entry, *cause + p.dependency.turnaround);
  }
  make_ready(host, later(entry, now));
}

void ReplayHosts::make_ready(int host, Instant entry) {
  Host& h = hosts_[static_cast<size_t>(host)];
  const FedPacket& p = h.queue.front();
  // Disorder of capture times alone is no shift.
  if (entry > h.last_entry && entry - (p.captured + origin_) > h.shift) {
    h.shift = entry - (p.captured + origin_);
    shift_changed_ = true;
  }
  h.blocked = h.released = false;
  ready_[static_cast<size_t>(p.site)].push({entry, p.index, host});
}

void ReplayHosts::block(int host, const Dependency& d) {
  hosts_[static_cast<size_t>(host)].blocked = true;
  waiters(d.kind == Dependency::Kind::kCm ? -1 : d.stream).push_back(host);
}

Instant ReplayHosts::next(Site site) const {
  const auto& ready = ready_[static_cast<size_t>(site)];
  return ready.empty() ? Instant::never() : std::get<0>(ready.top());
}

FedPacket ReplayHosts::pop(Site site, Instant now) {
  auto& ready = ready_[static_cast<size_t>(site)];
  const auto [entry, index, host] = ready.top();
  ready.pop();
  Host& h = hosts_[static_cast<size_t>(host)];
  FedPacket p = std::move(h.queue.front());
  h.queue.pop_front();
  --queued_;
  queued_bytes_ -= p.packet->size;
  p.entry = entry;
  h.last_entry = entry;
  h.site = site;
  evaluate(host, now);
  return p;
}

void ReplayHosts::wake(int stream, Instant now) {
  std::vector<int>& list = waiters(stream);
  if (list.empty()) return;
  const std::vector<int> looking = std::exchange(list, {});
  for (const int host : looking)
    if (hosts_[static_cast<size_t>(host)].blocked) evaluate(host, now);
}

Duration ReplayHosts::min_shift() {
  if (!shift_changed_) return min_shift_;
  shift_changed_ = false;
  Duration least{std::numeric_limits<int64_t>::max() / 4};
  bool any = false;
  for (const Host& h : hosts_)
    if (h.unread > 0) {
      least = std::min(least, h.shift);
      any = true;
    }
  min_shift_ = any ? least : Duration{};
  return min_shift_;
}

void ReplayHosts::release_one(Instant now) {
  int earliest = -1;
  const auto due = [&](int host) {
    const Host& h = hosts_[static_cast<size_t>(host)];
    return h.queue.front().captured + h.shift;
  };
  for (size_t i = 0; i < hosts_.size(); ++i) {
    const int host = static_cast<int>(i);
    if (hosts_[i].blocked && (earliest < 0 || due(host) < due(earliest))) earliest = host;
  }
  if (earliest < 0) return;
  ++released_;
  for (std::vector<int>& list : waiting_) std::erase(list, earliest);
  hosts_[static_cast<size_t>(earliest)].released = true;
  evaluate(earliest, now);
}

}  // namespace matchrdma
