#pragma once
// The cases that the field's reference code was run on (SIMULATOR 9 and 10), built from our parts.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/hpcc_compat.h"
#include "sim/network.h"

namespace matchrdma::sim {

/// What a reference case varies. Everything else is HPCC's (hpcc_compat.h).
struct ReferenceSetup {
  int64_t km = 1;
  Tick tick{1};
  Rate long_rate{100'000'000'000};
  uint32_t near_hosts = 1, far_hosts = 1;
  int64_t buffer_bytes = 32ll << 20;
  ReactionSettings reaction = ReactionSettings::hpcc();
  bool windows = false;  ///< BDP of the slowest pair, times rate / line rate
  uint64_t seed = 1;
};

struct ReferenceFlow {
  uint32_t source, destination;
  int64_t bytes;
  SimTime start{};
};

struct ReferenceResult {
  std::vector<double> fct_us;  ///< by flow, at the sender, on the last ACK
  double goodput_gbps = 0;     ///< payload of all flows until the last is done
  int64_t peak_queue_bytes = 0;
  uint64_t pauses = 0, drops = 0;

  double mean_fct_us(size_t from, size_t to) const {
    double sum = 0;
    for (size_t i = from; i < to; ++i) sum += fct_us[i];
    return sum / static_cast<double>(to - from);
  }
};

/// Duty: two switches, a long link between them, hosts 0.. at the near one and the others at the far one; runs
/// flows in order of their starts, one QP and one message each.
class ReferenceRun final : public HostListener {
 public:
  static constexpr uint32_t kNear = 0, kFar = 1;

  explicit ReferenceRun(const ReferenceSetup& setup) : setup_(setup), net_(kHpccFrames, setup.tick) {
    SwitchSettings sw{.buffer = hpcc_buffer(setup.buffer_bytes)};
    for (uint64_t s : {2 * setup.seed, 2 * setup.seed + 1}) {
      sw.seed = s;
      net_.add_switch(sw);
    }
    long_port_ =
        net_.join_switches(kNear, kFar, {setup.long_rate, fibre(setup.km)}, EcnSettings::hpcc(setup.long_rate));
    const LinkSpec cable{};
    for (uint32_t h = 0; h < setup.near_hosts + setup.far_hosts; ++h) {
      const uint32_t host = net_.add_host(kHpccHost);
      net_.join_host(host, h < setup.near_hosts ? kNear : kFar, cable, EcnSettings::hpcc(cable.rate));
      net_.host(host).listen(this);
    }
    net_.route();
  }

  /// Port of the near switch into the long link.
  uint32_t long_port() const { return long_port_; }
  Network& network() { return net_; }

  /// peak queue: of this port of this switch.
  ReferenceResult run(const std::vector<ReferenceFlow>& flows, uint32_t at_switch, uint32_t at_port) {
    open(flows);
    for (size_t i = 0; i < flows.size(); ++i) {
      net_.events().run_until(flows[i].start);
      net_.post(flows_[i], flows[i].bytes);
    }
    while (done_ < flows.size() && net_.events().run_one()) {
    }
    ReferenceResult r;
    int64_t bytes = 0;
    double last = 0;
    for (size_t i = 0; i < flows.size(); ++i) {
      const SimTime finished = finished_[flows_[i].source][flows_[i].source_qp];
      r.fct_us.push_back((finished - flows[i].start).us());
      bytes += flows[i].bytes;
      last = std::max(last, finished.us());
    }
    r.goodput_gbps = static_cast<double>(bytes) * 8 / last / 1e3;
    r.peak_queue_bytes = net_.switch_node(at_switch).queues(at_port).peak_bytes();
    for (uint32_t s : {kNear, kFar}) {
      r.pauses += net_.switch_node(s).stats().pauses;
      r.drops += net_.switch_node(s).stats().drops;
    }
    return r;
  }

 private:
  void open(const std::vector<ReferenceFlow>& flows) {
    SenderSettings sender = hpcc_sender(setup_.reaction);
    if (setup_.windows) {
      for (const ReferenceFlow& f : flows)
        sender.window_bytes =
            std::max(sender.window_bytes, net_.bdp_bytes(f.source, f.destination, sender.mtu));
      sender.window_follows_rate = true;
    }
    finished_.resize(net_.hosts());
    for (const ReferenceFlow& f : flows) {
      flows_.push_back(net_.open(f.source, f.destination, sender, hpcc_receiver()));
      finished_[f.source].resize(flows_.back().source_qp + 1);
    }
  }
  void on_acknowledged(uint32_t host, uint32_t qp, size_t, SimTime now) override {
    finished_[host][qp] = now;
    ++done_;
  }
  void on_delivered(uint32_t, uint32_t, int64_t, bool, SimTime) override {}

  ReferenceSetup setup_;
  Network net_;
  uint32_t long_port_ = 0;
  std::vector<Flow> flows_;
  std::vector<std::vector<SimTime>> finished_;  ///< by host and QP
  size_t done_ = 0;
};

}  // namespace matchrdma::sim
