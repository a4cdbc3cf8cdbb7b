#pragma once
// What one run showed (SIMULATOR 7).
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/evaluation/world.h"
#include "sim/workload/workload.h"

namespace matchrdma::sim {

/// PFC on the ports that send: of hosts, leaves, spines, OTN nodes.
struct PauseMetrics {
  double ratio = 0;     ///< paused time of all ports / (ports x time)
  double worst = 0;     ///< of the port that stood still longest
  uint64_t frames = 0;  ///< PAUSEs that this layer sent
  size_t ports = 0;
};

/// Bytes that wait in switches, and in what a scheme holds back.
struct BufferMetrics {
  int64_t peak = 0, p99 = 0;  ///< within the window
  int64_t highest = 0;        ///< since the first message, warming up too
};

struct FlowMetrics {
  Flow flow{};
  bool inter = false;  ///< from one site to the other
  int64_t delivered_bytes = 0, acknowledged_bytes = 0;
};

struct RunMetrics {
  double seconds = 0;                ///< virtual, of the window
  SimSpan finished{};                ///< from the first post to the last completion seen
  bool complete = true;              ///< the workload ended, where it has an end
  std::vector<FlowMetrics> flows{};  ///< within the window
  SimTime window_start{};
  size_t first_message = 0;               ///< of the workload: posted in the window, or after it
  BufferMetrics source{}, destination{};  ///< OTN node of site A and of site B
  BufferMetrics destination_site{};       ///< all switches of site B
  std::array<PauseMetrics, kLayers> pauses{};
  uint64_t drops = 0, marks = 0;
  int64_t sent_again = 0;      ///< payload bytes, by hosts
  uint64_t control_bytes = 0;  ///< frames between the proxies
  uint64_t custody_peak = 0;   ///< bytes, of the proxy of site A; since the start
  uint64_t events = 0;         ///< of the whole run

  /// Payload in order at receivers, of flows between the sites; Gb/s.
  double delivered_gbps() const { return sum_gbps(&FlowMetrics::delivered_bytes); }
  double acknowledged_gbps() const { return sum_gbps(&FlowMetrics::acknowledged_bytes); }
  /// Rate of bytes of the window.
  double gbps(int64_t bytes) const { return static_cast<double>(bytes) * 8 / seconds / 1e9; }
  /// That send, of all layers.
  size_t ports() const {
    size_t sum = 0;
    for (const PauseMetrics& p : pauses) sum += p.ports;
    return sum;
  }

 private:
  double sum_gbps(int64_t FlowMetrics::*bytes) const {
    double sum = 0;
    for (const FlowMetrics& f : flows) sum += f.inter ? static_cast<double>(f.*bytes) : 0;
    return sum * 8 / seconds / 1e9;
  }
};

/// When to look.
struct Window {
  SimSpan warm_up{}, length{};
  bool to_the_end = false;  ///< the window ends with the workload, `length` after warm_up at the latest
  /// SIMULATOR 5, "Run length": 5 round trips, 5 ms at least, behind 20, 100 ms at least: by then budgets are
  /// learned and DCQCN has found its rates.
  static Window steady(int64_t km);
};

/// Opens the workload's QPs, waits for the proxies, posts, and measures. `progress`: virtual seconds done and
/// wanted, now and then. False when the proxies did not come up.
bool run(World& world, Workload& load, const Window& window, RunMetrics& out,
         const std::function<void(double, double)>& progress = {});

}  // namespace matchrdma::sim
