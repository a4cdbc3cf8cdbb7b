#include "tests/host/flowcell_rig.h"

#include <algorithm>
#include <utility>

#include "dataplane/base/check.h"
#include "host/control/control_codec.h"

namespace matchrdma::host::test {
namespace {

TrafficSettings back_of(const FlowcellRigSettings& s) {
  TrafficSettings t = s.traffic;
  t.messages = s.messages_back;
  return t;
}

}  // namespace

FlowcellRig::FlowcellRig(const FlowcellRigSettings& settings)
    : settings_(settings),
      net_(settings.seed, settings.nic, settings.nic, settings.flowcell.shape.paths),
      prng_(settings.seed ^ 0xf10c),
      apps_{Applications(settings.seed, settings.traffic, prng_),
            Applications(settings.seed + 1, back_of(settings), prng_)} {
  for (uint32_t p = 0; p < settings_.there.size(); ++p) {
    net_.set_path(0, settings_.there[p], p);
    net_.set_path(1, settings_.back[p], p);
    for (uint32_t e = 0; e < 2 && p < settings_.custody.size() && settings_.custody[p]; ++e)
      net_.add_custody(e, p);
  }
  for (const PathEvent& e : settings_.events) net_.at(net_.now() + e.at, [this, e] { happen(e); });
  for (uint32_t r = 0; r < settings_.restarts; ++r)
    restart_at_.push_back(net_.now() +
                          Duration{prng_.between(0, 20 * settings_.flowcell.round_trip.ns + 1'000'000)});
  std::sort(restart_at_.begin(), restart_at_.end());
}

void FlowcellRig::happen(const PathEvent& e) {
  if (e.kind == PathEvent::Kind::kQpError) {
    const auto qp = qpns_[e.end].empty() ? std::nullopt : net_.nic(e.end).handle_of(qpns_[e.end][e.path]);
    if (qp) net_.nic(e.end).fail_qp(*qp);
    return;
  }
  PathModel there = settings_.there[e.path], back = settings_.back[e.path];
  if (e.kind == PathEvent::Kind::kBreak) there.loss = back.loss = 1;
  net_.set_path(0, there, e.path);
  net_.set_path(1, back, e.path);
}

std::string FlowcellRig::connect() {
  for (auto& end : ends_) end.reset();
  for (uint32_t e = 0; e < 2; ++e) {
    said_[e].clear();
    apps_[e].new_life();
    qpns_[e].assign(settings_.flowcell.shape.paths, 0);
  }
  for (uint32_t e = 0; e < 2; ++e) {
    auto made = FlowcellEnd::make(settings_.flowcell, net_.nic(e), clock(e));
    if (!made) return made.error();
    ends_[e] = std::move(*made);
    look_at_[e] = net_.now();
    for (size_t m = 0; m < apps_[e].life_size(); ++m) ends_[e]->sender().send(apps_[e].source(m), 0);
  }
  connected_ = true;
  return {};
}

void FlowcellRig::say(uint32_t end) {
  for (const ControlMessage& m : ends_[end]->take_control()) {
    Said s{net_.now() + settings_.control_delay, {}};
    MRDMA_CHECK(encode(m, s.frame));
    said_[end].push_back(std::move(s));
  }
}

void FlowcellRig::hear(uint32_t end) {
  auto& said = said_[1 - end];
  for (; !said.empty() && said.front().at <= net_.now(); said.pop_front()) {
    const Bytes frame = said.front().frame;
    const auto m = decode(frame[0], frame.subspan(kControlHeaderBytes));
    MRDMA_CHECK(m.has_value());
    MRDMA_CHECK(ends_[end]->on_control(*m, clock(end)));
  }
}

// One look of a host at its NIC.
void FlowcellRig::look(uint32_t end) {
  FlowcellEnd& e = *ends_[end];
  hear(end);
  e.poll(clock(end));
  Applications& mine = apps_[end];
  Applications& theirs = apps_[1 - end];
  while (const auto d = e.take_received()) theirs.received(d->message, d->length);
  for (MutableBytes buffer = theirs.offer(); !buffer.empty(); buffer = theirs.offer()) {
    auto n = e.receive_post(buffer);
    MRDMA_CHECK(n.ok());
    if (!*n) break;  // all slots taken
    theirs.posted();
  }
  while (const auto d = e.sender().take_sent()) {
    if (!d->error.empty()) mine.complain(d->error);
    if (net_.nic(end).reads(mine.source(d->message)))
      mine.complain("a buffer was released that the NIC may still send from");
    mine.released(d->message);
  }
  for (const FlowcellFlow& f : e.take_connected()) qpns_[end][f.path] = f.local.qpn;
  for (const FlowcellFlow& f : e.take_fenced())
    if (settings_.proxies_hear_of_fences) net_.drop_custody(end, f.local.qpn);
  if (!e.error().empty()) mine.complain(e.error());
  e.poll(clock(end));
  say(end);
}

void FlowcellRig::step(uint32_t end) {
  if (look_at_[end] > net_.now()) return;
  look(end);
  look_at_[end] =
      net_.now() + Duration{prng_.between(1'000, std::max<int64_t>(settings_.most_pause.ns, 1'000))};
}

bool FlowcellRig::done() const {
  return connected_ && apps_[0].all_received() && apps_[1].all_received() &&
         ends_[0]->sender().under_way() == 0 && ends_[1]->sender().under_way() == 0;
}

// Nobody has anything to do before: the next event of the wires, of the control connection, or a timer.
Instant FlowcellRig::next_step() const {
  Instant idle = net_.next_event();
  for (uint32_t e = 0; e < 2; ++e) {
    const Instant wakes = ends_[e]->next_wakeup(clock(e));
    if (!wakes.is_never()) idle = earlier(idle, net_.now() + (wakes - clock(e)));
    if (!said_[e].empty()) idle = earlier(idle, said_[e].front().at);
  }
  const Instant next = earlier(look_at_[0], look_at_[1]);
  return later(later(next, earlier(idle, next + Duration::millis(1))), net_.now() + Duration{1});
}

std::string FlowcellRig::run_until(Instant until) {
  if (!connected_)
    if (std::string e = connect(); !e.empty()) return e;
  while (wrong().empty() && !done() && net_.now() < until) {
    for (uint32_t e = 0; e < 2; ++e) step(e);
    if (!restart_at_.empty() && restart_at_.front() <= net_.now()) {
      restart_at_.erase(restart_at_.begin());
      if (std::string e = connect(); !e.empty()) return e;
    }
    net_.run_until(earlier(next_step(), until));
  }
  return wrong();
}

std::string FlowcellRig::run() {
  if (std::string e = run_until(Instant{} + settings_.patience); !e.empty()) return e;
  if (done()) return {};
  return "not done after " + std::to_string(settings_.patience.ns / 1'000'000) +
         " ms: " + std::to_string(delivered()) + " of " +
         std::to_string(settings_.traffic.messages + settings_.messages_back) + " messages";
}

}  // namespace matchrdma::host::test
