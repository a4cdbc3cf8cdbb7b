#include "controlplane/service/commands.h"

#include <array>
#include <span>
#include <utility>

#include "config/words.h"
#include "controlplane/service/requests.h"
#include "controlplane/service/view_json.h"

namespace matchrdma::service {
namespace {

std::string line_of(const Json& j) { return j.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

Json progress_json(const Progress& p) { return {{"done", p.done}, {"text", p.text}}; }

// Asks until it is done or the client's patience ends; what is not done then goes on all the same.
template <typename Ask>
Outcome until_done(Ask ask, Patience patience, Instant now) {
  const Instant end = now + patience.wait;
  Pending pending = [ask, end](Instant at) -> std::optional<std::string> {
    const Result<Progress> r = ask();
    if (!r) return refusal(r.error());
    if (!r->done && at < end) return std::nullopt;
    return reply(progress_json(*r));
  };
  if (auto at_once = pending(now)) return *at_once;
  return pending;
}

Outcome told(const Result<std::string>& r) {
  if (!r) return refusal(r.error());
  return reply({{"text", *r}});
}

Json capture_json(const CaptureStatus& s) {
  return {{"running", s.running}, {"file", s.file},     {"packets", s.packets},
          {"bytes", s.bytes},     {"missed", s.missed}, {"text", s.text}};
}

struct Show {
  const char* what;
  Json (*json)(const DaemonView&);
};
constexpr std::array<Show, 7> kShows{{{"status", status_json},
                                      {"workers", workers_json},
                                      {"ports", ports_json},
                                      {"peers", peers_json},
                                      {"budgets", budgets_json},
                                      {"slots", slots_json},
                                      {"custody", custody_json}}};

/// Whether the daemon has a span of this name; otherwise the names of those it has.
Result<void> check_span(const std::string& name, const DaemonView& view) {
  for (const PeerView& p : view.peers) {
    if (p.span == name) return {};
  }
  return Error{"span: there is no span " + name + "; there is: " + listed(view.peers, &PeerView::span)};
}

Outcome show_flows(const std::string& what, Fields& f, const DaemonView& view) {
  const auto filter = read_flow_filter(f);
  if (!filter) return refusal(filter.error());
  if (!filter->span.empty()) {
    if (auto known = check_span(filter->span, view); !known) return refusal(known.error());
  }
  if (what == "unpaired" && !filter->state.empty())
    return refusal("state: only paired flows have one; leave it out");
  return reply(what == "flows" ? flows_json(view, *filter) : unpaired_json(view, *filter));
}

}  // namespace

struct Commands::Command {
  const char* name;
  Rights rights;  ///< the least that it needs
  Outcome (Commands::*run)(Fields&, Instant);
};

std::span<const Commands::Command> Commands::list() {
  static constexpr std::array<Command, 7> kCommands{
      {{"show", Rights::kAll, &Commands::show},
       {"register", Rights::kRegistration, &Commands::register_pair},
       {"unregister", Rights::kRegistration, &Commands::unregister_pair},
       {"mode", Rights::kAll, &Commands::mode},
       {"drain", Rights::kAll, &Commands::drain},
       {"reload", Rights::kAll, &Commands::reload},
       {"capture", Rights::kAll, &Commands::capture}}};
  return kCommands;
}

std::string reply(Json result) {
  return line_of(Json{{"v", kAdminVersion}, {"ok", true}, {"result", std::move(result)}});
}

std::string refusal(const std::string& sentence) {
  return line_of(Json{{"v", kAdminVersion}, {"ok", false}, {"error", sentence}});
}

Outcome Commands::run(std::string_view line, Rights rights, Instant now) {
  const auto request = parse_object(line);
  if (!request) return refusal(request.error());
  Fields f(*request, "");
  const uint64_t version = f.whole("v", 0, UINT32_MAX, 0);
  if (version != kAdminVersion) {
    return refusal("v: this daemon speaks version " + std::to_string(kAdminVersion) +
                   " of the admin protocol; use the matchrdma tool that came with it");
  }
  const std::string name = f.text("cmd", true);
  std::string names;
  for (const Command& c : list()) {
    if (rights == Rights::kRegistration && c.rights != Rights::kRegistration) continue;
    if (name == c.name) return (this->*c.run)(f, now);
    names += (names.empty() ? "" : ", ") + std::string(c.name);
  }
  return refusal("there is no such command here; there is: " + names);
}

Outcome Commands::show(Fields& f, Instant) {
  const ViewPtr view = board_->view();
  if (!view) return refusal("the daemon is starting and has nothing to show yet; try again");
  const std::string what = f.text("what", true);
  if (what == "flows" || what == "unpaired") return show_flows(what, f, *view);
  if (auto done = f.done(); !done) return refusal(done.error());
  if (what == "config") return reply({{"config", view->config_text}});
  std::string names = "flows, unpaired, config";
  for (const Show& s : kShows) {
    if (what == s.what) return reply(s.json(*view));
    names += std::string(", ") + s.what;
  }
  return refusal("what: there is: " + names);
}

Outcome Commands::register_pair(Fields& f, Instant now) {
  const bool has_mtu = f.has("mtu");
  const auto c = read_pair(f);
  if (!c) return refusal(c.error());
  if (!has_mtu)
    return refusal("mtu: is missing; choose 256, 512, 1024, 2048 or 4096, the path MTU of both ends");
  return until_done([control = control_, pair = c->pair] { return control->register_pair(pair); }, c->patience,
                    now);
}

Outcome Commands::unregister_pair(Fields& f, Instant now) {
  const auto c = read_pair(f);
  if (!c) return refusal(c.error());
  return until_done([control = control_, pair = c->pair] { return control->unregister_pair(pair); },
                    c->patience, now);
}

Outcome Commands::mode(Fields& f, Instant) {
  const auto request = read_mode(f);
  if (!request) return refusal(request.error());
  return told(control_->set_mode(*request));
}

Outcome Commands::drain(Fields& f, Instant now) {
  const Patience patience = read_patience(f);
  if (auto done = f.done(); !done) return refusal(done.error());
  return until_done([control = control_] { return control->drain(); }, patience, now);
}

Outcome Commands::reload(Fields& f, Instant) {
  if (auto done = f.done(); !done) return refusal(done.error());
  return told(control_->reload());
}

Outcome Commands::capture(Fields& f, Instant) {
  const std::string action = f.text("action", true);
  if (action == "start") {
    const auto request = read_capture(f);
    if (!request) return refusal(request.error());
    return told(control_->capture_start(*request));
  }
  if (auto done = f.done(); !done) return refusal(done.error());
  if (action == "status") return reply(capture_json(control_->capture_status()));
  if (action != "stop") return refusal("action: there is: start, stop, status");
  const auto status = control_->capture_stop();
  if (!status) return refusal(status.error());
  return reply(capture_json(*status));
}

}  // namespace matchrdma::service
