#include "pcap/replay_options.h"
#include "pcap/replay_world.h"

namespace matchrdma {

Result<ReplayResult> replay(const ReplayOptions& options) {
  auto first = CaptureReader::open(options.trace);
  if (!first) return Error{first.error()};
  auto flows = TraceFlows::scan(std::move(*first), options.site_a, [&](uint64_t bytes) {
    if (options.progress) options.progress("first pass", bytes, 0);
  });
  if (!flows) return Error{flows.error()};
  if (const auto [a, b] = flows->sites().divided(); options.site_a && a + b > 0 && (a == 0 || b == 0))
    return Error{std::string("--site-a: ") + (a == 0 ? "no host" : "every host") + " of " + options.trace +
                 " stands there; name the addresses before proxy A (`matchrdma trace info` lists the hosts)"};
  auto second = CaptureReader::open(options.trace);
  if (!second) return Error{second.error()};
  ReplayWorld world(options, *flows, std::move(*second));
  if (auto r = world.open_outputs(); !r) return Error{r.error()};
  if (auto r = world.run(); !r) return Error{r.error()};
  ReplayResult result;
  world.report(result);
  result.streams = flows->streams();
  result.trace = flows->counts();
  return result;
}

}  // namespace matchrdma
