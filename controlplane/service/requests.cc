#include "controlplane/service/requests.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "config/net.h"
#include "config/words.h"
#include "dataplane/base/ip_text.h"
#include "dataplane/flow/role_ctx.h"
#include "dataplane/shard/shard.h"

namespace matchrdma::service {
namespace {

constexpr uint64_t kMax24 = 0xffffff;
constexpr uint64_t kMaxVlan = 4094;
constexpr uint64_t kMaxCaptureFlows = 64;

template <typename E>
using Choice = std::pair<const char*, E>;

std::string no_choice(const std::string& text, const std::string& names) {
  return "\"" + text + "\" is no choice; choose one of: " + names;
}

template <typename E, size_t N>
E choose(Fields& f, const char* key, const std::array<Choice<E>, N>& choices, E otherwise) {
  if (!f.has(key)) return otherwise;
  const std::string text = f.text(key, true);
  for (const auto& [name, value] : choices) {
    if (text == name) return value;
  }
  f.wrong(key, no_choice(text, listed(choices, &Choice<E>::first)));
  return otherwise;
}

void check_state(Fields& f, const std::string& text) {
  const std::vector<std::string> names = flow_state_names();
  if (std::find(names.begin(), names.end(), text) == names.end())
    f.wrong("state", no_choice(text, listed(names)));
}

IpAddress read_ip(Fields& f, const char* key) {
  const std::string text = f.text(key, true);
  const auto ip = ip_from_text(text);
  if (!ip) f.wrong(key, "\"" + text + "\" is not an IP address");
  return ip.value_or(IpAddress{});
}

// QPs 0 and 1 carry management; they are never a pair.
Qpn read_qpn(Fields& f) {
  constexpr uint64_t kLeast = 2;
  const uint64_t n = f.whole("qpn", 0, kMax24);
  if (n < kLeast)
    f.wrong("qpn", std::to_string(n) + " is not the QPN of a pair: QPs 0 and 1 carry management; choose 2 to " +
                       std::to_string(kMax24));
  return Qpn{static_cast<uint32_t>(n)};
}

uint16_t read_small(Fields& f, const char* key, uint64_t most) {
  return static_cast<uint16_t>(f.whole(key, 0, most, 0));
}

Registration::End read_end(Fields& request, const char* key) {
  Registration::End end;
  const Json* j = request.object(key, true);
  if (j == nullptr) return end;
  Fields f(*j, std::string(key) + ".");
  end.ip = read_ip(f, "ip");
  if (const std::string why = why_no_host(end.ip); !why.empty())
    f.wrong("ip", ip_text(end.ip) + " is no address of one host (" + why + "); write that of the QP's port");
  end.qpn = read_qpn(f);
  end.has_start = f.has("psn");
  end.start = Psn{static_cast<uint32_t>(f.whole("psn", 0, kMax24, 0))};
  end.msn = static_cast<int64_t>(f.whole("msn", 0, kMax24, 0));
  if (f.has("msn") && !end.has_start) f.wrong("msn", "says nothing without psn");
  request.wrong(f.done());
  return end;
}

FlowKey read_flow_key(const Json& j, Fields& request, const char* key) {
  if (!j.is_object()) {
    request.wrong(key, "must hold objects with src, dst and qpn");
    return {};
  }
  Fields f(j, std::string(key) + ".");
  FlowKey k;
  k.src = read_ip(f, "src");
  k.dst = read_ip(f, "dst");
  k.dst_qpn = read_qpn(f);
  k.vlan_outer = read_small(f, "vlan", kMaxVlan);
  k.vlan_inner = read_small(f, "inner_vlan", kMaxVlan);
  request.wrong(f.done());
  return k;
}

std::vector<Reason> read_reasons(Fields& f) {
  std::vector<Reason> out;
  const Json* list = f.list("reasons");
  if (list == nullptr) return out;
  for (const Json& j : *list) {
    const std::string name = j.is_string() ? j.get<std::string>() : "";
    const auto* it = std::find(kReasonKeys.begin() + 1, kReasonKeys.end(), name);
    if (it == kReasonKeys.end()) {
      f.wrong("reasons", "\"" + name + "\" is no reason; the metric matchrdma_reason_packets_total lists them");
      break;
    }
    out.push_back(static_cast<Reason>(it - kReasonKeys.begin()));
  }
  return out;
}

// A name and no path: the daemon's rights must not reach beyond its capture folder.
bool plain_name(const std::string& name) {
  constexpr size_t kLongest = 128;
  if (name.empty() || name.size() > kLongest || name[0] == '.') return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
           c == '_';
  });
}

}  // namespace

Patience read_patience(Fields& f) {
  constexpr uint64_t kLongest = 600'000, kUsual = 5000;
  return {Duration::millis(static_cast<int64_t>(f.whole("wait_ms", 0, kLongest, kUsual)))};
}

Result<PairCommand> read_pair(Fields& f) {
  PairCommand c;
  Registration& r = c.pair.reg;
  r.a = read_end(f, "local");
  r.b = read_end(f, "remote");
  if (r.a.ip == r.b.ip)
    f.wrong("remote", ip_text(r.b.ip) + " is the address of local too; the ends of a pair are two hosts");
  if (r.a.ip.is_v4() != r.b.ip.is_v4()) f.wrong("remote", "one end is IPv4 and the other IPv6");
  r.vlan_outer = read_small(f, "vlan", kMaxVlan);
  r.vlan_inner = read_small(f, "inner_vlan", kMaxVlan);
  if (r.vlan_inner != 0 && r.vlan_outer == 0) f.wrong("inner_vlan", "needs vlan, the outer one");
  r.path_mtu = static_cast<uint32_t>(f.whole("mtu", 0, 4096, 0));
  if (r.path_mtu != 0 && !legal_path_mtu(r.path_mtu)) {
    f.wrong("mtu", "choose 256, 512, 1024, 2048 or 4096, the path MTU of both queue pairs");
  }
  r.credits = f.flag("credits");
  constexpr std::array<Choice<Completion>, 3> kCompletions{{{"transparent", Completion::kTransparent},
                                                            {"early", Completion::kEarly},
                                                            {"end-to-end", Completion::kEndToEnd}}};
  if (f.has("completion")) r.completion = choose(f, "completion", kCompletions, Completion::kTransparent);
  c.pair.span = f.text("span");
  c.patience = read_patience(f);
  if (auto done = f.done(); !done) return Error{done.error()};
  return c;
}

Result<ModeRequest> read_mode(Fields& f) {
  ModeRequest r;
  const Json* flow = f.object("flow");
  const std::string name = f.text("class");
  if ((flow != nullptr) == !name.empty()) f.wrong("class", "name either a class or a flow");
  if (flow != nullptr) {
    r.what = read_flow_key(*flow, f, "flow");
  } else {
    r.what = name;
  }
  constexpr std::array<Choice<Mode>, 3> kModes{
      {{"configured", Mode::kConfigured}, {"transparent", Mode::kTransparent}, {"drain", Mode::kDrain}}};
  if (!f.has("mode")) f.wrong("mode", "is missing; choose configured, transparent or drain");
  r.mode = choose(f, "mode", kModes, Mode::kConfigured);
  if (auto done = f.done(); !done) return Error{done.error()};
  return r;
}

Result<CaptureRequest> read_capture(Fields& f) {
  CaptureRequest r;
  if (const Json* flows = f.list("flows"); flows != nullptr) {
    if (flows->size() > kMaxCaptureFlows) f.wrong("flows", "at most " + std::to_string(kMaxCaptureFlows));
    for (const Json& j : *flows) r.flows.push_back(read_flow_key(j, f, "flows"));
  }
  r.reasons = read_reasons(f);
  if (r.flows.empty() && r.reasons.empty()) f.wrong("flows", "name at least one flow or reason");
  r.file = f.text("file", true);
  if (!plain_name(r.file)) {
    f.wrong("file", "\"" + r.file + "\" is not a plain file name; it goes to the capture folder of the config");
  }
  r.max_packets = f.whole("packets", 1, 1'000'000'000, 10'000);
  r.max_bytes = f.whole("bytes", 1, uint64_t{1} << 40, uint64_t{64} << 20);
  r.max_time = Duration::seconds(static_cast<int64_t>(f.whole("seconds", 1, 86'400, 60)));
  if (auto done = f.done(); !done) return Error{done.error()};
  return r;
}

Result<FlowFilter> read_flow_filter(Fields& f) {
  FlowFilter r;
  if (f.has("ip")) r.ip = read_ip(f, "ip");
  if (f.has("qpn")) r.qpn = Qpn{static_cast<uint32_t>(f.whole("qpn", 0, kMax24))};
  r.state = f.text("state");
  if (f.has("state")) check_state(f, r.state);
  r.span = f.text("span");
  r.top = f.whole("top", 0, 1'000'000, 0);
  r.from = f.whole("from", 0, 100'000'000, 0);
  if (auto done = f.done(); !done) return Error{done.error()};
  return r;
}

}  // namespace matchrdma::service
