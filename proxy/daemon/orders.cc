// What operators and orchestrators ask of the running daemon.
#include <algorithm>
#include <ctime>

#include "config/load.h"
#include "config/match.h"
#include "config/net.h"
#include "config/print.h"
#include "config/reload.h"
#include "config/words.h"
#include "proxy/daemon/daemon.h"
#include "proxy/daemon/log.h"

namespace matchrdma::daemon {
namespace {

constexpr size_t kOrders = 65536;
/// Who waits for an order asks again every few milliseconds. An answer that nobody fetched is no answer to who
/// asks the same later.
constexpr Duration kForgotten = Duration::seconds(1);

std::string refusal_of(Registered r, uint32_t max_flows) {
  switch (r) {
    case Registered::kNoRoom:
      return "refused: all " + std::to_string(max_flows) +
             " flow records are in use (limits.max_flows); unregister what has ended";
    case Registered::kOtherPartner:
      return "refused: one of the two QPs is known with another partner (`ctl show flows`); unregister that "
             "pair "
             "first";
    case Registered::kEnding:
      return "refused: the pair is being unregistered; ask again when that has ended";
    case Registered::kNonsense:
      return "refused: both ends are the same QP, or the path MTU is none of 256, 512, 1024, 2048 and 4096";
    case Registered::kYes:
      break;
  }
  return {};
}

std::string text_of(const char* verb, const Registration& r, size_t span) {
  return std::string(verb) + " " + std::to_string(span) + " " + to_text(r.a.ip) + "/" +
         std::to_string(r.a.qpn.v) + "@" + std::to_string(r.a.start.v) + (r.a.has_start ? "s" : "") + " " +
         to_text(r.b.ip) + "/" + std::to_string(r.b.qpn.v) + "@" + std::to_string(r.b.start.v) +
         (r.b.has_start ? "s" : "") + " " + std::to_string(r.vlan_outer) + "." + std::to_string(r.vlan_inner) +
         " " + std::to_string(r.path_mtu) + " " +
         (r.completion ? std::to_string(static_cast<int>(*r.completion)) : "-") + (r.credits ? "c" : "");
}

}  // namespace

template <class F>
void Daemon::each_end(F f) {
  for (auto& each : machine_->workers) {
    for (size_t s = 0; s < span_names_.size(); ++s) {
      each->mailbox().post([this, &w = *each, s, f] { f(w.end(s), s, now()); });
    }
  }
}

// Who sees the packets of this pair: known where we spread them ourselves, anyone where the NIC does.
std::vector<DpdkWorker*> Daemon::workers_of(const FlowKey& key) const {
  std::vector<DpdkWorker*> all;
  for (const auto& w : machine_->workers) all.push_back(w.get());
  if (all.size() == 1 || machine_->dispatch == nullptr) return all;
  return {all[io::Dispatch::owner_of(key.src, key.dst, key.vlan_outer, key.vlan_inner,
                                     static_cast<uint16_t>(all.size()))]};
}

Result<size_t> Daemon::span_of(const service::PairRequest& pair) const {
  if (pair.span.empty() && span_names_.size() == 1) return size_t{0};
  const auto found = std::find(span_names_.begin(), span_names_.end(), pair.span);
  if (found != span_names_.end()) return static_cast<size_t>(found - span_names_.begin());
  const std::string names = listed(span_names_);
  if (pair.span.empty())
    return Error{"this proxy has several spans: name the one that the pair crosses (" + names + ")"};
  return Error{"there is no span " + pair.span + "; there are: " + names};
}

std::shared_ptr<Daemon::Answer> Daemon::answer_to(const std::string& order) {
  const Instant t = now();
  if (orders_.size() > kOrders)
    std::erase_if(orders_, [&](const auto& o) { return o.second->asked + kForgotten < t; });
  auto& a = orders_[order];
  const bool first = a == nullptr || a->asked + kForgotten < t;
  if (first) a = std::make_shared<Answer>();
  a->first = first;
  a->asked = t;
  return a;
}

Result<service::Progress> Daemon::register_pair(const service::PairRequest& pair) {
  const auto span = span_of(pair);
  if (!span) return Error{span.error()};
  const std::string text = text_of("register", pair.reg, *span);
  const std::shared_ptr<Answer> a = answer_to(text);
  if (a->refused != Registered::kYes) {
    orders_.erase(text);
    return Error{refusal_of(a->refused, machine_->limits.max_flows)};
  }
  if (a->done) {
    orders_.erase(text);
    return service::Progress{true, "both proxies know the pair"};
  }
  for (DpdkWorker* w : workers_of(pair.reg.flow(true))) {
    w->mailbox().post([this, w, s = *span, reg = pair.reg, a] {
      const Registered taken = w->end(s).register_qp(reg, now());
      const bool done = taken == Registered::kYes && w->end(s).shard().registered(reg);
      mailbox_.post([a, taken, done] {
        if (taken != Registered::kYes) a->refused = taken;
        a->done = a->done || done;
      });
    });
  }
  return service::Progress{
      false, links_[*span]->up() ? "waiting for the peer" : "waiting for a session with the peer"};
}

Result<service::Progress> Daemon::unregister_pair(const service::PairRequest& pair) {
  const auto span = span_of(pair);
  if (!span) return Error{span.error()};
  const std::string text = text_of("unregister", pair.reg, *span);
  const std::shared_ptr<Answer> a = answer_to(text);
  if (a->done) {
    orders_.erase(text);
    return service::Progress{true, "both proxies have destroyed what they owned of it"};
  }
  for (DpdkWorker* w : workers_of(pair.reg.flow(true))) {
    w->mailbox().post([this, w, s = *span, reg = pair.reg, a, first = a->first] {
      if (first) w->end(s).unregister_qp(reg, now());
      const bool done = w->end(s).shard().unregistered(reg);
      mailbox_.post([a, done] { a->done = done; });
    });
  }
  return service::Progress{
      false, links_[*span]->up() ? "waiting for the peer" : "waiting for a session with the peer"};
}

std::vector<std::shared_ptr<const PolicyTable>> Daemon::policies(const std::set<std::string>& also) const {
  std::set<std::string> names = silenced_;
  names.insert(also.begin(), also.end());
  std::vector<std::shared_ptr<const PolicyTable>> out;
  for (size_t s = 0; s < span_names_.size(); ++s)
    out.push_back(std::make_shared<const PolicyTable>(config_, s, names));
  return out;
}

void Daemon::drain_class(const std::string& name) {
  each_end([p = policies({name})](SpanEnd& e, size_t s, Instant t) { e.drain_flows(*p[s], t); });
}

void Daemon::spread_policy() {
  each_end([p = policies()](SpanEnd& e, size_t s, Instant t) { e.set_policy(p[s], t); });
}

Result<std::string> Daemon::set_mode(const service::ModeRequest& request) {
  if (const auto* key = std::get_if<FlowKey>(&request.what)) {
    if (request.mode == service::Mode::kConfigured) {
      return Error{"a flow is given back by `ctl reload`, or by the mode of its class"};
    }
    const auto same = [&](const service::FlowRow& r) {
      FlowKey k = r.flow.key;
      k.port_pair = key->port_pair;
      return k == *key;
    };
    if (std::none_of(flows_->flows.begin(), flows_->flows.end(), same)) {
      return Error{"no flow to QP " + std::to_string(key->dst_qpn.v) + " of " + to_text(key->dst) + " from " +
                   to_text(key->src) + " is known here; `ctl show flows` lists them, new ones after 2 s"};
    }
    log().info("mode: the flow to QP " + std::to_string(key->dst_qpn.v) + " of " + to_text(key->dst) +
               " becomes transparent when all it owns is confirmed");
    for (DpdkWorker* w : workers_of(*key)) {
      for (size_t s = 0; s < span_names_.size(); ++s) {
        FlowKey k = *key;
        k.port_pair = 0;
        w->mailbox().post([this, w, s, k] { w->end(s).drain_flow(k, now()); });
      }
    }
    return std::string("the flow takes no new custody and becomes transparent when all it owns is confirmed");
  }
  const std::string& name = std::get<std::string>(request.what);
  const bool known = std::any_of(config_->classes.begin(), config_->classes.end(),
                                 [&](const ClassConfig& c) { return c.name == name; });
  if (!known) {
    const std::string names = listed(config_->classes, &ClassConfig::name);
    return Error{"there is no class " + name + "; there are: " + (names.empty() ? "none" : names)};
  }
  log().info("mode: class " + name + ": " +
             (request.mode == service::Mode::kConfigured ? "as configured"
              : request.mode == service::Mode::kDrain    ? "flows of now drain"
                                                         : "transparent"));
  if (request.mode == service::Mode::kConfigured) {
    silenced_.erase(name);
    spread_policy();
    return "class " + name + " is as the config says";
  }
  if (request.mode == service::Mode::kDrain) {
    drain_class(name);
    return "the flows that class " + name +
           " has now take no new custody and become transparent; later ones are "
           "as the config says";
  }
  silenced_.insert(name);
  spread_policy();
  return "class " + name + " takes no new custody; what its flows own is delivered first";
}

Result<service::Progress> Daemon::drain() {
  if (!draining_) {
    draining_ = true;
    log().warn("drain: no new custody on any span");
    each_end([](SpanEnd& e, size_t, Instant t) { e.drain(true, t); });
    ask_reports();
    return service::Progress{false, "draining"};
  }
  ask_reports();
  uint64_t owned = 0;
  bool drained = true;
  for (const WorkerReport& r : reports_) {
    owned += r.custody.bytes;
    for (const SpanReport& s : r.spans) drained = drained && s.drained;
  }
  if (drained)
    return service::Progress{true, "nothing is owned any more, here or at the peers: the process may stop"};
  return service::Progress{false, std::to_string(owned) + " bytes are owned here still"};
}

Result<std::string> Daemon::reload() {
  const ConfigResult next = load_config(config_path_);
  const auto refuse = [&](const std::string& why) {
    ++reloads_refused_;
    log().error("reload refused, the running config stays: " + why);
    return Error{why};
  };
  if (stopping()) return refuse("the daemon is stopping; its next life reads the file");
  if (!next.ok()) return refuse(complaints(next));
  const std::vector<std::string> frozen = restart_needed(*config_, *next.config);
  if (!frozen.empty())
    return refuse(config_path_ + ": only a restart can change " + listed(frozen) + "; nothing was applied");
  for (size_t s = 0; s < links_.size(); ++s) {
    if (const auto r = links_[s]->check_keys(next.config->spans[s].peer); !r)
      return refuse(config_path_ + ": span " + span_names_[s] + ": " + r.error() + "; nothing was applied");
  }
  // Anew in any case: the file may have been rotated away.
  if (const auto r = start_log(next.config->log, next.config->name); !r) return refuse(r.error());
  config_ = next.config;
  config_text_ = print_config(*config_);
  for (size_t s = 0; s < links_.size(); ++s) {
    const auto set = links_[s]->set_keys(config_->spans[s].peer, now());
    MRDMA_CHECK(set.ok());  // they were checked
  }
  if (draining_) {
    draining_ = false;
    each_end([](SpanEnd& e, size_t, Instant t) { e.drain(false, t); });
  }
  silenced_.clear();
  spread_policy();
  each_end([c = config_](SpanEnd& e, size_t s, Instant t) {
    e.set_tuning(timing_of(*c, s), c->tuning_of(s), t);
    e.set_l2_control(c->spans[s].l2_control == L2Control::kDrop);
  });
  ++reloads_;
  publish();
  log().info("config " + config_path_ + " is applied");
  return "config " + config_path_ + " is applied";
}

Result<std::string> Daemon::capture_start(const service::CaptureRequest& request) {
  if (capture_ != nullptr && capture_->status().running) {
    return Error{"a capture runs already, to " + capture_->status().file + "; stop it first"};
  }
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  const Duration epoch = Instant{int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec} - now();
  auto run = CaptureRun::start(request, config_->capture_folder, span_names_, now(), epoch);
  if (!run) return Error{run.error()};
  capture_ = std::move(*run);
  log().info("capture to " + capture_->status().file + " begins; it " + capture_->status().text);
  each_end([tap = capture_->tap()](SpanEnd& e, size_t s, Instant) { e.set_capture(SpanCapture(tap, s)); });
  return "capturing to " + capture_->status().file + "; it " + capture_->status().text;
}

Result<service::CaptureStatus> Daemon::capture_stop() {
  if (capture_ == nullptr || !capture_->status().running) return Error{"no capture runs"};
  capture_->stop(now());
  each_end([](SpanEnd& e, size_t, Instant) { e.set_capture({}); });
  return capture_->status();
}

service::CaptureStatus Daemon::capture_status() const {
  return capture_ != nullptr ? capture_->status() : service::CaptureStatus{};
}

void Daemon::pump_capture() {
  if (capture_ == nullptr || !capture_->status().running) return;
  capture_->pump(now());
  if (capture_->status().running) return;
  log().info("capture " + capture_->status().file + " has ended: " + capture_->status().text);
  each_end([](SpanEnd& e, size_t, Instant) { e.set_capture({}); });
}

}  // namespace matchrdma::daemon
