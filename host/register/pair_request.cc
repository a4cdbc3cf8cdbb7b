#include "host/register/pair_request.h"

#include <nlohmann/json.hpp>

#include "dataplane/base/ip_text.h"

namespace matchrdma::host {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kProtocolVersion = 1;  // of docs/admin.md

Json end_json(const FlowEnd& e) {
  return {{"ip", ip_text(IpAddress::v6(e.gid.data()))}, {"qpn", e.qpn}, {"psn", e.psn}};
}

std::string text_of(const Json& j, const char* key) {
  const auto at = j.find(key);
  return at != j.end() && at->is_string() ? at->get<std::string>() : std::string();
}
bool is_true(const Json& j, const char* key) {
  const auto at = j.find(key);
  return at != j.end() && at->is_boolean() && at->get<bool>();
}

}  // namespace

std::string request_line(const ProxiedPair& pair, bool remove) {
  const Json request = {{"v", kProtocolVersion},         {"cmd", remove ? "unregister" : "register"},
                        {"local", end_json(pair.local)}, {"remote", end_json(pair.remote)},
                        {"mtu", pair.path_mtu},          {"wait_ms", 0}};
  return request.dump() + "\n";
}

Result<ProxyReply> read_reply(const std::string& line) {
  const Json j = Json::parse(line, nullptr, false);
  if (!j.is_object() || !j.contains("ok"))
    return Error{"what answers there is no registration listener of a proxy; look at the port"};
  if (!is_true(j, "ok")) {
    const std::string why = text_of(j, "error");
    return Error{why.empty() ? "refused without a reason" : why};
  }
  const auto result = j.find("result");
  if (result == j.end() || !result->is_object()) return Error{"the proxy's answer has no result"};
  return ProxyReply{is_true(*result, "done"), text_of(*result, "text")};
}

}  // namespace matchrdma::host
