#pragma once
// Two channel engines that are driven by hand: control messages take no time. For tests.
#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "host/channel/channel_thread.h"
#include "host/model_fabric/model_net.h"
#include "host/model_fabric/model_nic.h"

namespace matchrdma::host::test {

/// Duty: moves time in steps of a microsecond, completions, control messages and pipe frames.
struct ChannelPair {
  struct Pipe final : MessagePipe {
    bool write(Bytes frame) override {
      if (frames.size() >= 16) return false;
      frames.emplace_back(frame.begin(), frame.end());
      return true;
    }
    std::deque<std::vector<uint8_t>> frames;
  };

  explicit ChannelPair(ChannelOptions options, const PathModel& path = {}, const NicModel& nic = {},
                       uint64_t seed = 1)
      : net(seed, nic, nic) {
    options.connection.path_mtu = 4096;
    for (uint32_t e = 0; e < 2; ++e) {
      net.set_path(e, path);
      options.offers = e == 0;
      engine[e] = *ChannelEngine::make(options, net.nic(e), net.now());
      thread[e] = std::make_unique<ChannelThread>(net.nic(e));
      thread[e]->add(*engine[e]);
      engine[e]->on_control_up(e + 1, net.now());
    }
  }

  void look() {
    for (uint32_t e = 0; e < 2; ++e) {
      if (dead[e]) continue;
      for (auto& f : std::exchange(pipe[1 - e].frames, {})) engine[e]->on_pipe(f);
      thread[e]->poll(net.now());
      while (const auto m = engine[e]->take_control())
        if (!dead[1 - e]) engine[1 - e]->on_control(*m, net.now());
      while (const auto qpn = engine[e]->take_unregister()) net.drop_custody(e, *qpn);
    }
  }
  /// Until it is so, or for that long; whether it is.
  bool run(
      Duration longest, const std::function<bool()>& so = [] { return false; },
      Duration step = Duration::micros(1)) {
    for (const Instant end = net.now() + longest; net.now() < end; net.run_until(net.now() + step)) {
      look();
      if (so()) return true;
    }
    return so();
  }
  bool up() {
    return run(
        Duration::seconds(5), [this] { return both(ChannelEngine::Path::kUp); }, Duration::micros(10));
  }
  bool both(ChannelEngine::Path p) const { return engine[0]->path() == p && engine[1]->path() == p; }
  /// The newest queue pair of that end.
  void fail_qp(uint32_t end) {
    for (uint32_t v = 0; v < 100; ++v) net.nic(end).fail_qp({v});
  }
  void set_loss(double loss) {
    for (uint32_t e = 0; e < 2; ++e) {
      PathModel m = net.path(e);
      m.loss = loss;
      net.set_path(e, m);
    }
  }
  void set_pipes(bool there) {
    for (uint32_t e = 0; e < 2; ++e) {
      engine[e]->set_pipe(there ? &pipe[e] : nullptr);
      pipe[e].frames.clear();
    }
  }

  ModelNet net;
  std::unique_ptr<ChannelEngine> engine[2];
  std::unique_ptr<ChannelThread> thread[2];
  Pipe pipe[2];
  bool dead[2] = {false, false};  ///< the process does nothing any more; its NIC and proxy do
};

}  // namespace matchrdma::host::test
