// matchrdma ctl [--socket PATH] [--json] show|register|unregister|mode|drain|reload|capture
#include <iostream>
#include <memory>
#include <sstream>
#include <vector>

#include "config/units.h"
#include "controlplane/service/admin_version.h"
#include "proxy/commands.h"
#include "proxy/ctl_client.h"
#include "proxy/ctl_tables.h"
#include "proxy/json_output.h"

namespace matchrdma {
namespace {

using Json = nlohmann::ordered_json;

struct CtlOptions {
  std::string socket = service::kAdminSocket;
  bool json = false;
  // show
  std::string what, ip, state, span, qpn, top;
  // register, unregister
  std::string local, remote, vlan, completion, mtu, wait = "5s";
  bool credits = false;
  // mode, capture
  std::string traffic_class, flow, mode, file, max_packets = "10000", max_bytes = "64MiB", max_time = "60s";
  std::vector<std::string> flows, reasons;
};
using Options = std::shared_ptr<CtlOptions>;

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) out.push_back(part);
  return out;
}

constexpr uint64_t kMaxVlan = 4094, kMax24 = 0xffffff;

/// `what`: "a QPN", told where the text is none.
uint64_t whole(const std::string& option, const std::string& text, const std::string& what, uint64_t least,
               uint64_t most) {
  return or_stop(parse_whole(
      option, text, least, most,
      "not " + what + "; write a whole number from " + std::to_string(least) + " to " + std::to_string(most)));
}
// QPs 0 and 1 carry management.
uint64_t qpn_of(const std::string& option, const std::string& text) {
  return whole(option, text, "a QPN", 2, kMax24);
}
uint64_t vlan_of(const std::string& option, const std::string& text) {
  return whole(option, text, "a VLAN id", 0, kMaxVlan);
}

int64_t wait_ms(const Options& o) {
  return or_stop(parse_duration_between("--wait", o->wait, Duration{}, Duration::seconds(600))).ns / 1'000'000;
}

Json ask(const Options& o, Json request) {
  auto result = ask_daemon(o->socket, std::move(request));
  if (!result) stop(result.error());
  return std::move(*result);
}

void print_json(const Json& j) {
  if (auto r = write_json(j, "-"); !r) stop(r.error());
}

void finish() {
  if (!std::cout.flush()) stop("(stdout): write failed");
}

// The sentence of the daemon; what is not done yet is no success.
void tell(const Options& o, const Json& result) {
  if (o->json) {
    print_json(result);
  } else if (const std::string text = result.value("text", ""); !text.empty()) {
    std::cout << text << '\n';
  }
  finish();
  if (!result.value("done", true))
    stop("not done yet; it goes on, and the same command tells how far it is", 3);
}

void run_show(const Options& o) {
  Json request = {{"cmd", "show"}, {"what", o->what}};
  if (!o->ip.empty()) request["ip"] = o->ip;
  if (!o->qpn.empty()) request["qpn"] = qpn_of("--qpn", o->qpn);
  if (!o->state.empty()) request["state"] = o->state;
  if (!o->span.empty()) request["span"] = o->span;
  if (!o->top.empty()) request["top"] = whole("--top", o->top, "a number of flows", 1, 1'000'000);
  Json result = ask(o, request);
  // A long list comes in parts.
  while (result.contains("next") && result["next"].is_number_unsigned()) {
    request["from"] = result["next"];
    Json more = ask(o, request);
    for (Json& row : more[o->what]) result[o->what].push_back(std::move(row));
    result["next"] = more["next"];
  }
  result.erase("next");
  if (o->json) {
    print_json(result);
  } else {
    print_view(o->what, result, std::cout);
  }
  finish();
}

Json end_of(const std::string& option, const std::string& text) {
  const auto parts = split(text);
  if (parts.size() < 2 || parts.size() > 4) stop(option + " " + text + ": write IP,QPN or IP,QPN,PSN", 2);
  Json end = {{"ip", parts[0]}, {"qpn", qpn_of(option, parts[1])}};
  if (parts.size() > 2) end["psn"] = whole(option, parts[2], "a PSN", 0, kMax24);
  if (parts.size() > 3) end["msn"] = whole(option, parts[3], "an MSN", 0, kMax24);
  return end;
}

void run_pair(const Options& o, const char* command) {
  Json request = {
      {"cmd", command}, {"local", end_of("--local", o->local)}, {"remote", end_of("--remote", o->remote)}};
  const auto vlans = split(o->vlan);
  if (vlans.size() > 2) stop("--vlan " + o->vlan + ": write one VLAN id, or OUTER,INNER", 2);
  if (!vlans.empty()) request["vlan"] = vlan_of("--vlan", vlans[0]);
  if (vlans.size() == 2) request["inner_vlan"] = vlan_of("--vlan", vlans[1]);
  if (!o->mtu.empty()) request["mtu"] = whole("--mtu", o->mtu, "a path MTU", 256, 4096);
  if (o->credits) request["credits"] = true;
  if (!o->completion.empty()) request["completion"] = o->completion;
  if (!o->span.empty()) request["span"] = o->span;
  request["wait_ms"] = wait_ms(o);
  tell(o, ask(o, request));
}

Json flow_of(const std::string& text) {
  const auto parts = split(text);
  if (parts.size() < 3 || parts.size() > 5)
    stop("--flow " + text + ": write SOURCE,DESTINATION,QPN and, if tagged, VLAN ids", 2);
  Json flow = {{"src", parts[0]}, {"dst", parts[1]}, {"qpn", qpn_of("--flow", parts[2])}};
  if (parts.size() > 3) flow["vlan"] = vlan_of("--flow", parts[3]);
  if (parts.size() > 4) flow["inner_vlan"] = vlan_of("--flow", parts[4]);
  return flow;
}

void run_mode(const Options& o) {
  Json request = {{"cmd", "mode"}, {"mode", o->mode}};
  if (!o->traffic_class.empty()) request["class"] = o->traffic_class;
  if (!o->flow.empty()) request["flow"] = flow_of(o->flow);
  tell(o, ask(o, request));
}

void run_drain(const Options& o) { tell(o, ask(o, {{"cmd", "drain"}, {"wait_ms", wait_ms(o)}})); }

void run_capture_start(const Options& o) {
  Json request = {{"cmd", "capture"}, {"action", "start"}, {"file", o->file}};
  request["packets"] = whole("--packets", o->max_packets, "a number of packets", 1, 1'000'000'000);
  for (const std::string& f : o->flows) request["flows"].push_back(flow_of(f));
  for (const std::string& r : o->reasons) request["reasons"].push_back(r);
  request["bytes"] = or_stop(parse_bytes_between("--bytes", o->max_bytes, 1, uint64_t{1} << 40));
  const Duration time =
      or_stop(parse_duration_between("--time", o->max_time, Duration::seconds(1), Duration::seconds(86'400)));
  request["seconds"] = time.ns / 1'000'000'000;
  tell(o, ask(o, request));
}

void run_capture_end(const Options& o, const char* action) {
  const Json s = ask(o, {{"cmd", "capture"}, {"action", action}});
  if (o->json) {
    print_json(s);
  } else if (s.value("file", "").empty()) {
    std::cout << "there was no capture yet\n";
  } else {
    std::cout << s.value("file", "") << (s.value("running", false) ? " (running)" : "") << ": "
              << s.value("packets", uint64_t{0}) << " packets, " << s.value("bytes", uint64_t{0}) << " bytes, "
              << s.value("missed", uint64_t{0}) << " missed. " << s.value("text", "") << '\n';
  }
  finish();
}

void add_show(CLI::App& ctl, const Options& o) {
  CLI::App* show = ctl.add_subcommand("show", "Show what the daemon has and does");
  show->add_option("what", o->what, "What to show")
      ->required()
      ->check(CLI::IsMember({"status", "flows", "unpaired", "peers", "budgets", "slots", "custody", "ports",
                             "workers", "config"}));
  show->add_option("--ip", o->ip, "flows, unpaired: only those from or to this address");
  show->add_option("--qpn", o->qpn, "flows, unpaired: only those with this QP at either end");
  show->add_option("--state", o->state, "flows: only those in this state");
  show->add_option("--span", o->span, "flows, unpaired: only those of this span");
  show->add_option("--top", o->top, "flows, unpaired: only the N that own most packets");
  show->footer("Example: matchrdma ctl show flows --ip 10.0.0.1 --state active --top 10");
  show->callback([o] { run_show(o); });
}

void add_pair_options(CLI::App& c, const Options& o) {
  c.add_option("--local", o->local, "End on this proxy's LAN: IP,QPN or IP,QPN,STARTING-PSN")->required();
  c.add_option("--remote", o->remote, "End at the far side, written the same way")->required();
  c.add_option("--vlan", o->vlan, "VLAN id, or OUTER,INNER");
  c.add_option("--span", o->span, "Span, where the daemon cannot tell it from the addresses");
  c.add_option("--wait", o->wait, "How long to wait for both proxies, like 5s");
}

void add_pairs(CLI::App& ctl, const Options& o) {
  CLI::App* reg = ctl.add_subcommand("register", "Tell both proxies which two QPs belong together");
  add_pair_options(*reg, o);
  reg->add_option("--mtu", o->mtu, "Path MTU of the QPs: 256 to 4096")->required();
  reg->add_option("--completion", o->completion,
                  "transparent, early or end-to-end (as the traffic class says)");
  reg->add_flag("--credits", o->credits, "The QPs use end-to-end credits");
  reg->footer(
      "Example: matchrdma ctl register --local 10.0.0.1,17,100 --remote 10.0.1.1,18,200 --mtu 4096 "
      "--completion early");
  reg->callback([o] { run_pair(o, "register"); });
  CLI::App* un =
      ctl.add_subcommand("unregister", "The QP is fenced by its host: both proxies forget what they own of it");
  add_pair_options(*un, o);
  un->footer("Example: matchrdma ctl unregister --local 10.0.0.1,17 --remote 10.0.1.1,18");
  un->callback([o] { run_pair(o, "unregister"); });
}

void add_mode(CLI::App& ctl, const Options& o) {
  CLI::App* mode = ctl.add_subcommand("mode", "Take a traffic class or a flow out of custody, or back");
  mode->add_option("mode", o->mode,
                   "transparent: now and from now on; drain: what exists now; configured: undo")
      ->required()
      ->check(CLI::IsMember({"transparent", "drain", "configured"}));
  auto* c = mode->add_option("--class", o->traffic_class, "Traffic class of the config");
  auto* f = mode->add_option("--flow", o->flow, "SOURCE,DESTINATION,QPN[,VLAN[,INNER]] as show flows tells it");
  c->excludes(f);
  mode->footer("Example: matchrdma ctl mode transparent --class storage");
  mode->callback([o] { run_mode(o); });
}

void add_capture(CLI::App& ctl, const Options& o) {
  CLI::App* capture = ctl.add_subcommand("capture", "Capture chosen packets of the daemon to a pcapng file");
  capture->require_subcommand(1);
  CLI::App* start = capture->add_subcommand("start", "Start a capture; one runs at a time");
  start->add_option("--file", o->file, "File name in the capture folder of the config")->required();
  start->add_option("--flow", o->flows,
                    "Flow, both ways: SOURCE,DESTINATION,QPN[,VLAN[,INNER]]; may be repeated");
  start->add_option("--reason", o->reasons, "Packets with this reason (docs/metrics.md); may be repeated");
  start->add_option("--packets", o->max_packets, "Ends after so many packets");
  start->add_option("--bytes", o->max_bytes, "Ends after so many bytes, like 64MiB");
  start->add_option("--time", o->max_time, "Ends after this time, like 60s");
  start->footer("Example: matchrdma ctl capture start --file bad.pcapng --reason icrc_wan --packets 100");
  start->callback([o] { run_capture_start(o); });
  for (const char* action : {"stop", "status"}) {
    CLI::App* c =
        capture->add_subcommand(action, action == std::string("stop") ? "End it" : "Tell how far it is");
    c->footer(std::string("Example: matchrdma ctl capture ") + action);
    c->callback([o, action] { run_capture_end(o, action); });
  }
}

}  // namespace

void add_ctl_command(CLI::App& app) {
  CLI::App* ctl = app.add_subcommand("ctl", "Look into the running daemon and steer it");
  ctl->require_subcommand(1);
  auto o = std::make_shared<CtlOptions>();
  ctl->add_option("--socket", o->socket, "Admin socket of the daemon")->capture_default_str();
  ctl->add_flag("--json", o->json, "Print JSON instead of tables");
  ctl->fallthrough();
  ctl->footer("Example: matchrdma ctl show status");
  add_show(*ctl, o);
  add_pairs(*ctl, o);
  add_mode(*ctl, o);
  CLI::App* drain =
      ctl->add_subcommand("drain", "Take no new custody, deliver what is owned, become transparent");
  drain->add_option("--wait", o->wait, "How long to wait until nothing is owned");
  drain->footer("Example: matchrdma ctl drain --wait 60s");
  drain->callback([o] { run_drain(o); });
  CLI::App* reload = ctl->add_subcommand("reload", "Read the config anew: all of it is applied, or nothing");
  reload->footer("Example: matchrdma ctl reload");
  reload->callback([o] { tell(o, ask(o, {{"cmd", "reload"}})); });
  add_capture(*ctl, o);
  for (CLI::App* c : ctl->get_subcommands({})) {
    c->fallthrough();
    for (CLI::App* cc : c->get_subcommands({})) cc->fallthrough();
  }
}

}  // namespace matchrdma
