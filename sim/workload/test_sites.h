#pragma once
// Two sites that are one switch each, for tests of workloads: all that queues does so at hosts and receivers.
#include <cstdint>
#include <vector>

#include "sim/workload/workload.h"

namespace matchrdma::sim::test {

inline constexpr Rate kLine{100'000'000'000};

/// `hosts_per_site` hosts at site A, numbered from 0, then as many at site B. The long link carries all of
/// them.
struct Sites {
  explicit Sites(int64_t km, uint32_t hosts_per_site) : net(kRoceFrames, Tick{}), per_site(hosts_per_site) {
    const Rate wide{kLine.bps * per_site};
    for (const uint64_t seed : {1, 2}) net.add_switch({{.bytes = int64_t{1} << 32}, seed});
    net.join_switches(0, 1, {wide, fibre(km)}, EcnSettings::hpcc(wide));
    for (uint32_t h = 0; h < 2 * per_site; ++h)
      net.join_host(net.add_host({}), h < per_site ? 0 : 1, {}, EcnSettings::hpcc(kLine));
    net.route();
  }
  std::vector<uint32_t> all() const {
    std::vector<uint32_t> hosts;
    for (uint32_t h = 0; h < net.hosts(); ++h) hosts.push_back(h);
    return hosts;
  }
  bool inter(const Flow& f) const { return (f.source < per_site) != (f.destination < per_site); }
  void start(Workload& load) {
    load.open([&](uint32_t a, uint32_t b) { return net.open(a, b, {.mtu = kMtu}, {}); });
    load.start();
  }
  /// Until `load` is done, or nothing happens any more.
  void run(Workload& load) {
    start(load);
    while (!load.done() && net.events().run_one()) {
    }
  }

  static constexpr uint32_t kMtu = 4096;
  Network net;
  uint32_t per_site;
};

}  // namespace matchrdma::sim::test
