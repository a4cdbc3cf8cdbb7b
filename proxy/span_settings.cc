#include "proxy/span_settings.h"

#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "config/units.h"
#include "dataplane/wire/frame.h"

namespace matchrdma {
namespace {

constexpr std::array<std::pair<const char*, LossFilter>, 3> kFilters{
    {{"all", LossFilter::kAll}, {"roce", LossFilter::kRoce}, {"roce-data", LossFilter::kRoceData}}};

constexpr std::string_view kPort = "port:";

constexpr Duration kLongest = Duration::seconds(60);  // a hundred times to the moon

/// Puts a parsed value in its place.
template <class T, class To>
Result<void> assign(Result<T> parsed, To& to) {
  if (!parsed) return Error{parsed.error()};
  to = *parsed;
  return {};
}

}  // namespace

Result<void> change_setting(SpanSettings& s, const std::string& name, const std::string& value) {
  if (name == "delay") return assign(parse_duration_between(name, value, {}, kLongest), s.delay);
  if (name == "distance") {
    const auto km = parse_distance(name, value);
    if (!km) return Error{km.error()};
    s.delay = Duration{std::llround(*km * kNanosPerKm)};
    return {};
  }
  if (name == "rate") {
    if (value != "0") return assign(parse_rate(name, value), s.rate);
    s.rate = {};
    return {};
  }
  if (name == "queue") return assign(parse_bytes(name, value), s.queue_bytes);
  if (name == "loss-ab") return assign(parse_probability(name, value), s.loss_ab);
  if (name == "loss-ba") return assign(parse_probability(name, value), s.loss_ba);
  if (name == "loss") {
    const auto p = parse_probability(name, value);
    if (!p) return Error{p.error()};
    s.loss_ab = s.loss_ba = *p;
    return {};
  }
  if (name == "reorder") return assign(parse_probability(name, value), s.reorder);
  if (name == "reorder-extra")
    return assign(parse_duration_between(name, value, {}, kLongest), s.reorder_extra);
  if (name == "duplicate") return assign(parse_probability(name, value), s.duplicate);
  if (name == "loss-filter") {
    for (const auto& [text, filter] : kFilters)
      if (value == text) {
        s.loss_filter = filter;
        return {};
      }
    if (value.starts_with(kPort)) {
      const auto port = parse_whole(value.substr(kPort.size()), 0, UINT16_MAX, "a UDP port is 0 to 65535");
      if (!port) return Error{"loss-filter " + value + ": " + port.error()};
      s.loss_filter = LossFilter::kPort;
      s.loss_port = static_cast<uint16_t>(*port);
      return {};
    }
    return Error{"loss-filter " + value + ": no such filter; choose all, roce, roce-data or port:N"};
  }
  return Error{
      name +
      ": no such setting; there are delay, distance, rate, queue, loss, loss-ab, loss-ba, loss-filter, "
      "reorder, reorder-extra and duplicate"};
}

void apply_settings(const SpanSettings& s, double loss, model::SpanConfig& config) {
  config.delay = s.delay;
  config.rate = s.rate;
  config.queue_bytes = static_cast<int64_t>(s.queue_bytes);
  config.loss = loss;
  config.reorder = s.reorder;
  config.reorder_extra = s.reorder_extra;
  config.duplicate = s.duplicate;
}

bool may_be_lost(const SpanSettings& s, Bytes frame) {
  if (s.loss_filter == LossFilter::kAll) return true;
  const ParseResult p = parse_frame(frame);
  if (p.kind == ParseKind::kRoce && s.loss_filter == LossFilter::kPort)
    return p.frame.udp_source_port() == s.loss_port;
  if (p.kind != ParseKind::kRoce || p.frame.info().transport != Transport::kRc) return false;
  return s.loss_filter == LossFilter::kRoce || p.frame.info().request;
}

nlohmann::ordered_json settings_json(const SpanSettings& s) {
  nlohmann::ordered_json j;
  j["delay_s"] = static_cast<double>(s.delay.ns) / 1e9;
  j["rate_bps"] = s.rate.bps;
  j["queue_bytes"] = s.queue_bytes;
  j["loss_ab"] = s.loss_ab;
  j["loss_ba"] = s.loss_ba;
  j["reorder"] = s.reorder;
  j["reorder_extra_s"] = static_cast<double>(s.reorder_extra.ns) / 1e9;
  j["duplicate"] = s.duplicate;
  for (const auto& [text, filter] : kFilters)
    if (filter == s.loss_filter) j["loss_filter"] = text;
  if (s.loss_filter == LossFilter::kPort) j["loss_filter"] = std::string(kPort) + std::to_string(s.loss_port);
  return j;
}

}  // namespace matchrdma
