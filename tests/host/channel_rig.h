#pragma once
// Two channel engines on model NICs, the two processes' TCP connections, and what breaks. For tests.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "host/channel/channel_thread.h"
#include "host/fabric/test_forwarding_nic.h"
#include "host/model_fabric/model_net.h"
#include "tests/host/channel_app.h"

namespace matchrdma::host::test {

/// Duty: hands out few completions at a time, as a NIC that is not done with flushing does.
class SlowNic final : public ForwardingNic {
 public:
  SlowNic(Nic& nic, size_t at_once) : ForwardingNic(nic), at_once_(at_once) {}
  size_t poll(std::span<Completion> out) override {
    return nic_.poll(out.first(std::min(at_once_, out.size())));
  }

 private:
  size_t at_once_;
};

/// What a run is judged and told by.
void add(ChannelCounters& to, const ChannelCounters& n);

/// Something that breaks, or is mended.
struct ChannelMishap {
  enum class What : uint8_t { kQpError, kRestart, kPathDies, kPathReturns, kPipeDown, kPipeUp, kControlLost };
  Duration at;
  What what = What::kQpError;
  uint32_t end = 0;
};

struct ChannelRigSettings {
  uint64_t seed = 1;
  NicModel nic;
  PathModel path[2];  ///< of what each end sends
  ChannelOptions channel;
  ChannelLoad load;
  bool custody[2] = {false, false};
  bool proxies_obey = true;  ///< what is unregistered is dropped
  bool pipe = true;          ///< there is a TCP way, unless it is down
  std::vector<ChannelMishap> mishaps;
  Duration control_delay = Duration::micros(50);
  Duration control_outage = Duration::millis(20);
  size_t completions_at_once = 256;
  Duration most_pause{};  ///< between two looks of a host at its NIC
  Duration clock_offset = Duration::seconds(1000);
  Duration patience = Duration::seconds(300);
};

/// Duty: the world around two engines and their applications.
class ChannelRig {
 public:
  explicit ChannelRig(const ChannelRigSettings& settings);
  /// Empty, or what went wrong.
  std::string run();

  ModelNet& net() { return net_; }
  ChannelApp& app(uint32_t end) { return *ends_[end].app; }
  ChannelEngine& engine(uint32_t end) { return *ends_[end].engine; }
  uint64_t delivered() const { return ends_[0].app->delivered() + ends_[1].app->delivered(); }
  /// Of all lives of both ends.
  const ChannelCounters& totals() const { return totals_; }
  uint32_t lives() const { return lives_; }

 private:
  template <class T>
  struct InFlight {
    Instant at;
    T what;
  };
  struct Pipe final : MessagePipe {
    bool write(Bytes frame) override;
    ChannelRig* rig = nullptr;
    uint32_t from = 0;
    std::deque<InFlight<std::vector<uint8_t>>> frames;
  };
  struct End {
    std::unique_ptr<SlowNic> nic;
    std::unique_ptr<ChannelApp> app;
    std::unique_ptr<ChannelEngine> engine;
    std::unique_ptr<ChannelThread> thread;
    std::deque<InFlight<ControlMessage>> control;  ///< on its way to this end
    Pipe pipe;                                     ///< that it writes into
    Instant look_at, pipe_known_at;
    bool pipe_known = false;
    uint64_t life = 0;
    uint32_t errors_due = 0;  ///< of its queue pair, when it is up
  };
  std::string begin();
  void end_life(uint32_t end);
  void count(const ChannelEngine& e);
  void step();
  void look(uint32_t end);
  void move_control(uint32_t end);
  void move_pipe(uint32_t end);
  void lose_control();
  void pipe_changes(bool up);
  void happen(const ChannelMishap& m);
  void check_ends();
  bool done() const;
  Instant clock(uint32_t end) const { return net_.now() + (end == 0 ? Duration{} : settings_.clock_offset); }
  Instant next_step() const;

  ChannelRigSettings settings_;
  ModelNet net_;
  Prng prng_;
  End ends_[2];
  size_t next_mishap_ = 0;
  bool control_up_ = false, pipe_up_ = false;
  Instant control_up_at_;
  uint64_t lives_made_ = 0;
  uint32_t lives_ = 0;
  ChannelCounters totals_;
  std::string wrong_;
};

}  // namespace matchrdma::host::test
