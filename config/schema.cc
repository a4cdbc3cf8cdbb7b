#include "config/schema.h"

namespace matchrdma {
namespace {

const auto kRestart = Apply::kRestart;
const auto kReload = Apply::kReload;

/// Keys of the whole Config that stand in a section of their own.
auto itself = [](auto& c) -> auto& { return c; };

Kind<Config> cnp_section() {
  using C = Config;
  const auto interval = time_between(Duration::micros(1), Duration::seconds(1));
  return section<C>({
      key<C>(
          "min_interval", [](auto& c) -> auto& { return c.timing.cnp_min_interval; }, interval, kReload,
          "between two CNPs to one flow"),
      key<C>(
          "port_interval", [](auto& c) -> auto& { return c.timing.cnp_port_interval; }, interval, kReload,
          "between two CNPs out of one port"),
      key<C>(
          "dscp", [](auto& c) -> auto& { return c.tuning.cnp_dscp; }, whole<uint8_t>(0, 63), kReload,
          "of the CNPs made here"),
  });
}

Kind<Config> journal_section() {
  return section<Config>({
      key<Config>("path", &Config::journal_path, absolute_path(), kRestart,
                  "lets a restarted daemon fail exactly the queue pairs whose packets were acknowledged and "
                  "not confirmed (H13); "
                  "none if missing"),
  });
}

Kind<Config> metrics_section() {
  auto listen = word<std::optional<Endpoint>>(
      "address:port or off",
      [](const std::string& text) -> Result<std::optional<Endpoint>> {
        if (text == "off") return std::optional<Endpoint>();
        if (text == "no" || text == "false") return Error{"no address; write off where there shall be none"};
        auto e = parse_endpoint(text);
        if (!e) return Error{e.error() + ", or off"};
        return std::optional<Endpoint>(*e);
      },
      [](const std::optional<Endpoint>& e) { return e ? to_text(*e) : std::string("off"); });
  return section<Config>({
      key<Config>("listen", &Config::metrics, listen, kRestart,
                  "HTTP address of /metrics, /healthz and /readyz"),
  });
}

Kind<Config> build() {
  using C = Config;
  auto icrc = [](auto& c) -> auto& { return c.tuning.check_icrc; };
  return section<C>({
      key<C>("name", &C::name, words("a name", 64), kRestart,
             "of this proxy, in logs, metrics and at its peers"),
      required<C>("workers", &C::workers, workers_section(), kRestart, "who forwards packets"),
      key<C>("memory", &C::memory, memory_section(), kRestart, "what packets and tables are kept in"),
      required<C>("spans", &C::spans, spans_list(), kRestart, "one LAN port, one WAN port and one peer each"),
      key<C>("classes", &C::classes, classes_list(), kReload,
             "what is proxied: the first class that fits a flow counts, what fits none is transparent (C7)"),
      key<C>("check_icrc", icrc, on_off(), kRestart, "off only where every class is transparent"),
      key<C>("limits", &C::limits, limits_section(), kRestart, "of one worker"),
      key<C>("timing", &C::timing, timing_section(), kReload, "of the protocol"),
      key<C>("tuning", &C::tuning, tuning_section(), kReload, "of acknowledgements and queues"),
      key<C>("cnp", itself, cnp_section(), kReload, "congestion notifications to senders"),
      key<C>("journal", itself, journal_section(), kRestart, "what survives a crash"),
      key<C>("admin", &C::admin, admin_section(), kRestart, "the local control socket"),
      key<C>("register", &C::registration, maybe(register_section()), kRestart,
             "REGISTER and UNREGISTER from other machines; there only where it is written"),
      key<C>("metrics", itself, metrics_section(), kRestart, "Prometheus"),
      key<C>("capture_folder", &C::capture_folder, absolute_path(), kReload, "where `ctl capture` writes"),
      key<C>("stop_patience", &C::stop_patience, time_between(Duration{}, Duration::seconds(50)), kReload,
             "how long SIGTERM waits until what is owned is delivered; below systemd's TimeoutStopSec"),
      key<C>("log", &C::log, log_section(), kReload, "what is told, and where"),
  });
}

}  // namespace

const Kind<Config>& schema() {
  static const Kind<Config> whole_file = build();
  return whole_file;
}

}  // namespace matchrdma
