#include "tests/host/channel_rig.h"

#include <algorithm>
#include <utility>

namespace matchrdma::host::test {
namespace {

constexpr size_t kPipeRoom = 8;  // frames on their way

}  // namespace

ChannelRig::ChannelRig(const ChannelRigSettings& settings)
    : settings_(settings), net_(settings.seed, settings.nic, settings.nic), prng_(settings.seed ^ 0xc4a7) {
  for (uint32_t e = 0; e < 2; ++e) {
    net_.set_path(e, settings_.path[e]);
    if (settings_.custody[e]) net_.add_custody(e);
    ends_[e].nic = std::make_unique<SlowNic>(net_.nic(e), settings_.completions_at_once);
    ends_[e].app = std::make_unique<ChannelApp>(settings_.seed, e, settings_.load, net_.nic(e));
    ends_[e].pipe.rig = this;
    ends_[e].pipe.from = e;
  }
  std::sort(settings_.mishaps.begin(), settings_.mishaps.end(),
            [](const ChannelMishap& a, const ChannelMishap& b) { return a.at < b.at; });
}

// ---- lives

std::string ChannelRig::begin() {
  ++lives_;
  for (uint32_t e = 0; e < 2; ++e) {
    ChannelOptions o = settings_.channel;
    o.offers = e == 0;
    auto made = ChannelEngine::make(o, *ends_[e].nic, clock(e));
    if (!made) return made.error();
    ends_[e].engine = std::move(*made);
    ends_[e].thread = std::make_unique<ChannelThread>(*ends_[e].nic);
    ends_[e].thread->add(*ends_[e].engine);
    ends_[e].life = ++lives_made_;
    ends_[e].look_at = net_.now();
  }
  for (uint32_t e = 0; e < 2; ++e) ends_[e].app->begin(*ends_[e].engine, *ends_[1 - e].app);
  lose_control();
  pipe_changes(settings_.pipe);
  return {};
}

void add(ChannelCounters& to, const ChannelCounters& n) {
  to.fences += n.fences;
  to.path_errors += n.path_errors;
  to.path_stalls += n.path_stalls;
  to.replayed += n.replayed;
  to.fallbacks += n.fallbacks;
  to.returns += n.returns;
  to.over_pipe += n.over_pipe;
  to.small += n.small;
  to.large += n.large;
  to.puts += n.puts;
  to.stale_pipe += n.stale_pipe;
  to.torn_counters += n.torn_counters;
  to.bad += n.bad;
}

void ChannelRig::count(const ChannelEngine& e) {
  const ChannelCounters& n = e.counters();
  add(totals_, n);
  if (n.bad > 0) wrong_ = "an engine says that its peer is not right: " + e.gone();
}

void ChannelRig::end_life(uint32_t end) {
  End& e = ends_[end];
  if (!e.engine) return;
  count(*e.engine);
  e.thread.reset();
  e.engine.reset();
  e.app->end();  // its keys have ended
  e.control.clear();
  e.pipe.frames.clear();
}

// An engine is over, or its process is; when both are, the next life begins.
void ChannelRig::check_ends() {
  for (uint32_t e = 0; e < 2; ++e) {
    End& end = ends_[e];
    if (!end.engine || end.engine->gone().empty()) continue;
    if (!end.engine->over()) return;
    end.app->drain();
    end_life(e);
    // The other one is told by the next control connection.
    if (ends_[1 - e].engine) lose_control();
  }
  if (ends_[0].engine || ends_[1].engine) return;
  if (wrong_.empty()) wrong_ = begin();
}

// ---- what moves between the processes

bool ChannelRig::Pipe::write(Bytes frame) {
  if (frames.size() >= kPipeRoom) return false;
  // TCP takes it though the connection is dead and nobody knows yet.
  if (rig->pipe_up_)
    frames.push_back({rig->net_.now() + rig->settings_.control_delay, {frame.begin(), frame.end()}});
  return true;
}

void ChannelRig::lose_control() {
  control_up_ = false;
  control_up_at_ = net_.now() + Duration{prng_.between(1'000, settings_.control_outage.ns)};
  for (End& e : ends_) {
    e.control.clear();
    if (e.engine) e.engine->on_control_down();
  }
}

void ChannelRig::pipe_changes(bool up) {
  pipe_up_ = up && settings_.pipe;
  for (End& e : ends_) {
    e.pipe.frames.clear();
    if (e.engine && e.pipe_known) e.engine->set_pipe(nullptr);
    e.pipe_known = false;
    e.pipe_known_at = net_.now() + Duration{prng_.between(1'000, 2'000'000)};
  }
}

void ChannelRig::move_control(uint32_t end) {
  End& me = ends_[end];
  End& other = ends_[1 - end];
  if (!control_up_ && net_.now() >= control_up_at_) {
    control_up_ = true;
    // A process that is dead has been started again, and is another one.
    for (uint32_t e = 0; e < 2; ++e)
      if (ends_[e].engine)
        ends_[e].engine->on_control_up(ends_[1 - e].engine ? ends_[1 - e].life : UINT64_MAX, clock(e));
  }
  while (!me.control.empty() && me.control.front().at <= net_.now()) {
    const ControlMessage m = std::move(me.control.front().what);
    me.control.pop_front();
    me.engine->on_control(m, clock(end));
  }
  while (const auto m = me.engine->take_control())
    if (control_up_) other.control.push_back({net_.now() + settings_.control_delay, *m});
}

void ChannelRig::move_pipe(uint32_t end) {
  End& me = ends_[end];
  Pipe& in = ends_[1 - end].pipe;
  if (!me.pipe_known && pipe_up_ && net_.now() >= me.pipe_known_at) {
    me.pipe_known = true;
    me.engine->set_pipe(&me.pipe);
  }
  while (me.pipe_known && !in.frames.empty() && in.frames.front().at <= net_.now()) {
    const auto frame = std::move(in.frames.front().what);
    in.frames.pop_front();
    me.engine->on_pipe(frame);
  }
}

// ---- what breaks

void ChannelRig::happen(const ChannelMishap& m) {
  switch (m.what) {
    case ChannelMishap::What::kQpError:
      ++ends_[m.end].errors_due;
      break;
    case ChannelMishap::What::kRestart:
      if (!ends_[m.end].engine) break;
      end_life(m.end);
      if (ends_[1 - m.end].engine) lose_control();
      pipe_changes(false);
      break;
    case ChannelMishap::What::kPathDies:
    case ChannelMishap::What::kPathReturns:
      for (uint32_t e = 0; e < 2; ++e) {
        PathModel p = settings_.path[e];
        if (m.what == ChannelMishap::What::kPathDies) p.loss = 1;
        net_.set_path(e, p);
      }
      break;
    case ChannelMishap::What::kPipeDown:
      pipe_changes(false);
      break;
    case ChannelMishap::What::kPipeUp:
      pipe_changes(true);
      break;
    case ChannelMishap::What::kControlLost:
      lose_control();
      break;
  }
}

// ---- time

void ChannelRig::look(uint32_t end) {
  End& e = ends_[end];
  if (!e.engine) return;
  move_control(end);
  move_pipe(end);
  e.thread->poll(clock(end));
  if (e.engine->gone().empty()) {
    e.app->step();
    e.thread->poll(clock(end));
  }
  while (const auto qpn = e.engine->take_unregister())
    if (settings_.proxies_obey) net_.drop_custody(end, *qpn);
  move_control(end);
  if (!e.app->wrong().empty()) wrong_ = e.app->wrong();
}

void ChannelRig::step() {
  for (uint32_t e = 0; e < 2 && wrong_.empty(); ++e) {
    End& end = ends_[e];
    if (end.look_at > net_.now()) continue;
    look(e);
    // In the middle of things: all its queue pairs; those that are gone or failed do not mind.
    if (end.errors_due > 0 && end.engine && end.engine->path() == ChannelEngine::Path::kUp &&
        prng_.chance(0.1)) {
      --end.errors_due;
      for (uint32_t v = 0; v < 1000; ++v) net_.nic(e).fail_qp({v});
    }
    end.look_at =
        net_.now() + Duration{prng_.between(1'000, std::max<int64_t>(settings_.most_pause.ns, 1'000))};
  }
}

// Where nobody has anything to do: to the next event, or a millisecond on.
Instant ChannelRig::next_step() const {
  Instant idle = net_.next_event();
  for (uint32_t e = 0; e < 2; ++e) {
    const End& end = ends_[e];
    if (!end.engine) continue;
    const Instant wakes = end.engine->next_wakeup();
    if (!wakes.is_never()) idle = earlier(idle, wakes - (clock(e) - net_.now()));
    if (!end.control.empty()) idle = earlier(idle, end.control.front().at);
    if (!end.pipe.frames.empty()) idle = earlier(idle, end.pipe.frames.front().at);
  }
  if (next_mishap_ < settings_.mishaps.size())
    idle = earlier(idle, Instant{} + settings_.mishaps[next_mishap_].at);
  const Instant look = earlier(ends_[0].look_at, ends_[1].look_at);
  const Instant next = later(look, earlier(idle, look + Duration::millis(1)));
  return later(next, net_.now() + Duration{1});
}

bool ChannelRig::done() const {
  return ends_[0].engine && ends_[1].engine && ends_[0].app->done() && ends_[1].app->done();
}

std::string ChannelRig::run() {
  if (std::string e = begin(); !e.empty()) return e;
  while (wrong_.empty()) {
    step();
    check_ends();
    if (!wrong_.empty() || done()) break;
    if (net_.now() > Instant{} + settings_.patience)
      return "not done after " + std::to_string(settings_.patience.ns / 1'000'000) +
             " ms: " + ends_[0].app->progress() + "; " + ends_[1].app->progress();
    while (next_mishap_ < settings_.mishaps.size() &&
           Instant{} + settings_.mishaps[next_mishap_].at <= net_.now())
      happen(settings_.mishaps[next_mishap_++]);
    net_.run_until(next_step());
  }
  for (End& e : ends_)
    if (e.engine) count(*e.engine);
  for (uint32_t e = 0; e < 2 && wrong_.empty(); ++e)
    if (net_.nic(e).counters().no_receive > 0) wrong_ = "RNR though there are credits";
  return wrong_;
}

}  // namespace matchrdma::host::test
