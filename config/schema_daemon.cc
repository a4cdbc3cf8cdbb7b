// The daemon itself: cores, memory, sockets, log.
#include <array>
#include <charconv>
#include <cstdio>

#include "config/schema.h"

namespace matchrdma {
namespace {

const auto kRestart = Apply::kRestart;
const auto kReload = Apply::kReload;
constexpr uint64_t kMiB = 1ull << 20;

Result<uint32_t> parse_mode(const std::string& text) {
  uint32_t mode = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), mode, 8);
  if (ec != std::errc{} || end != text.data() + text.size() || mode > 0777)
    return Error{"not a file mode; write octal digits like 0660"};
  if ((mode & 007) != 0)
    return Error{"gives every user of this machine access; write 0660 and set admin.group"};
  // Who connects to a socket must be able to write to it.
  if ((mode & 0220) == 0) return Error{"lets nobody connect; write 0660, or 0600 for the daemon's user alone"};
  return mode;
}

std::string mode_text(uint32_t mode) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%04o", mode);
  return text.data();
}

}  // namespace

Kind<WorkersConfig> workers_section() {
  using W = WorkersConfig;
  const auto core = whole<uint32_t>(0, 1023);
  return section<W>({
      required<W>("cores", &W::cores, one_or_more(core, "core or list of cores"), kRestart,
                  "one worker on each of these CPU cores"),
      key<W>("main_core", &W::main_core, core, kRestart, "core of the control thread"),
      key<W>("idle", &W::idle, choice<Idle>({{"busy", Idle::kBusy}, {"adaptive", Idle::kAdaptive}}), kRestart,
             "busy: polls on, a whole core; adaptive: sleeps when nothing comes"),
      key<W>("coalesce", &W::coalesce, time_between(Duration{}, Duration::millis(10)), kRestart,
             "adaptive: a worker that found nothing rests at least so long; fewer wake-ups, more latency"),
      key<W>("burst", &W::burst, whole<uint16_t>(1, 256), kRestart, "packets taken from a queue at one time"),
  });
}

Kind<MemoryConfig> memory_section() {
  using M = MemoryConfig;
  const auto size = maybe(bytes_between(64 * kMiB, kMiB * kMiB));
  auto prefix = word<std::string>(
      "name",
      [](const std::string& text) -> Result<std::string> {
        const bool good =
            !text.empty() && text.size() <= 32 && std::all_of(text.begin(), text.end(), [](char c) {
              return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                     c == '_';
            });
        if (!good) return Error{"not a prefix of file names; write letters, digits, - and _, at most 32"};
        return text;
      },
      [](const std::string& s) { return s; });
  return section<M>({
      key<M>("hugepages", &M::hugepages, size, kRestart,
             "memory in hugepages for packets and tables; 2GiB where neither this nor no-huge is written"),
      key<M>("no-huge", &M::no_huge, size, kRestart,
             "the same in plain memory, for laptops, tests and containers"),
      key<M>("file_prefix", &M::file_prefix, prefix, kRestart, "keeps two daemons on one machine apart"),
  });
}

Kind<AdminConfig> admin_section() {
  using A = AdminConfig;
  return section<A>({
      key<A>("socket", &A::socket, absolute_path(), kRestart, "Unix socket of `matchrdma ctl`"),
      key<A>("mode", &A::mode, word<uint32_t>("octal file mode", parse_mode, mode_text), kRestart,
             "of the socket"),
      key<A>("group", &A::group, words("a group"), kRestart,
             "group of the socket; the daemon's own if missing"),
  });
}

Kind<RegisterConfig> register_section() {
  using R = RegisterConfig;
  const auto listen = word<Endpoint>("address:port", parse_endpoint, [](const Endpoint& e) {
    return e == Endpoint{} ? std::string() : to_text(e);
  });
  return section<R>({
      required<R>("listen", &R::listen, listen, kRestart,
                  "TCP address of the listener, TLS 1.3 with a shared key"),
      required<R>("psk_file", &R::psk_file, words("a path", 4095), kRestart,
                  "mode 0600, lines IDENTITY HEXKEY; relative to the folder of this file"),
  });
}

Kind<LogConfig> log_section() {
  using L = LogConfig;
  const auto level = choice<LogLevel>({{"error", LogLevel::kError},
                                       {"warning", LogLevel::kWarning},
                                       {"info", LogLevel::kInfo},
                                       {"debug", LogLevel::kDebug}});
  return section<L>({
      key<L>("level", &L::level, level, kReload, "least important line that is written"),
      key<L>("file", &L::file, absolute_path(), kReload, "stderr if missing"),
  });
}

}  // namespace matchrdma
