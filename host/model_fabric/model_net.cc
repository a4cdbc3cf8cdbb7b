#include "host/model_fabric/model_net.h"

#include <algorithm>
#include <utility>

#include "host/model_fabric/custody.h"
#include "host/model_fabric/model_nic.h"

namespace matchrdma::host {
namespace {

Duration time_of(uint32_t bytes, const PathModel& m) {
  return Duration{static_cast<int64_t>(bytes * 8.0 / m.gigabits)};
}

Duration drawn(Prng& prng, Duration most) { return Duration{prng.between(0, std::max<int64_t>(most.ns, 0))}; }

}  // namespace

ModelNet::ModelNet(uint64_t seed, const NicModel& a, const NicModel& b, uint32_t paths) : prng_(seed) {
  for (auto& direction : wires_) direction.resize(paths);
  nics_[0] = std::make_unique<ModelNic>(*this, 0, a);
  nics_[1] = std::make_unique<ModelNic>(*this, 1, b);
}
ModelNet::~ModelNet() = default;

void ModelNet::at(Instant time, std::function<void()> what) {
  events_.push({later(time, now_), events_made_++, std::move(what)});
}

void ModelNet::run_until(Instant until) {
  while (!events_.empty() && events_.top().at <= until) {
    // priority_queue gives no mutable top; the event is taken off before it runs, for it makes others.
    auto what = std::move(const_cast<Event&>(events_.top()).what);
    now_ = events_.top().at;
    events_.pop();
    what();
  }
  now_ = later(now_, until);
}

void ModelNet::add_custody(uint32_t from, uint32_t path) {
  wires_[from][path].custody = std::make_unique<ModelCustody>(*this, from, path);
}

void ModelNet::drop_custody(uint32_t from, uint32_t qpn) {
  for (Wire& w : wires_[from])
    if (w.custody) w.custody->drop(qpn);
}

void ModelNet::deliver(uint32_t to, Instant time, ModelPacket packet) {
  at(time, [this, to, p = std::move(packet)] {
    ModelCustody* const custody = wires_[to][p.path].custody.get();
    if (custody != nullptr && custody->takes_answer(p)) return;
    nics_[to]->arrive(p);
  });
}

Instant ModelNet::transmit(uint32_t from, ModelPacket packet, uint32_t bytes) {
  Wire& w = wires_[from][packet.path];
  if (!w.custody || !packet.reliable || packet.kind != ModelPacket::Kind::kRequest)
    return cross(from, std::move(packet), bytes);
  w.near_free_at = later(w.near_free_at, now_) + time_of(bytes, w.model);
  w.custody->take(std::move(packet), bytes);
  return w.near_free_at;
}

Instant ModelNet::cross(uint32_t from, ModelPacket packet, uint32_t bytes) {
  Wire& w = wires_[from][packet.path];
  const PathModel& m = w.model;
  w.free_at = later(w.free_at, now_) + time_of(bytes, m);
  ++w.n.sent;
  if (prng_.chance(m.loss)) {
    ++w.n.lost;
    return w.free_at;
  }
  if (prng_.chance(m.stall)) w.held_until = later(w.held_until, now_ + drawn(prng_, m.stall_for));
  Instant comes = later(w.free_at, w.held_until) + m.delay;
  if (prng_.chance(m.reorder)) {
    ++w.n.reordered;
    comes = comes + drawn(prng_, m.reorder_by);
  }
  if (prng_.chance(m.duplicate)) {
    ++w.n.duplicated;
    deliver(1 - from, comes + drawn(prng_, m.stale_by), packet);
  }
  deliver(1 - from, comes, std::move(packet));
  return w.free_at;
}

}  // namespace matchrdma::host
