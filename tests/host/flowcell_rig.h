#pragma once
// Two flowcell ends on model NICs with several paths, their control connection, and what befalls them. For
// tests.
#include <array>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "host/flowcell/flowcell_end.h"
#include "host/model_fabric/model_net.h"
#include "host/model_fabric/model_nic.h"
#include "tests/host/applications.h"

namespace matchrdma::host::test {

struct PathEvent {
  enum class Kind : uint8_t { kBreak, kMend, kQpError };
  Duration at;
  Kind kind = Kind::kBreak;
  uint32_t path = 0;
  uint32_t end = 0;  ///< kQpError: whose queue pair
};

struct FlowcellRigSettings {
  uint64_t seed = 1;
  NicModel nic;
  std::vector<PathModel> there, back;  ///< by path
  std::vector<bool> custody;           ///< by path: proxies in early mode, both directions
  bool proxies_hear_of_fences = true;
  FlowcellOptions flowcell;
  TrafficSettings traffic;
  uint32_t messages_back = 0;  ///< from B to A beside them
  std::vector<PathEvent> events;
  Duration control_delay = Duration::micros(20);
  Duration most_pause{};                            ///< between two looks of a host at its NIC
  Duration clock_offset = Duration::seconds(1000);  ///< of B's clock
  uint32_t restarts = 0;                            ///< of the connection, by A or B, in the middle
  Duration patience = Duration::seconds(300);
};

/// Duty: moves messages from A to B, and some back, until all are there and all source buffers are back.
/// Control messages go through their codec.
class FlowcellRig {
 public:
  explicit FlowcellRig(const FlowcellRigSettings& settings);
  /// Empty, or what went wrong.
  std::string run();
  /// Until then, or until all is done. Empty, or what went wrong.
  std::string run_until(Instant until);
  bool done() const;
  ModelNet& net() { return net_; }
  FlowcellEnd& a() { return *ends_[0]; }
  FlowcellEnd& b() { return *ends_[1]; }
  size_t delivered() const { return apps_[0].delivered() + apps_[1].delivered(); }

 private:
  struct Said {
    Instant at;
    std::vector<uint8_t> frame;
  };
  std::string connect();
  void step(uint32_t end);
  void look(uint32_t end);
  void say(uint32_t end);
  void hear(uint32_t end);
  void happen(const PathEvent& e);
  Instant next_step() const;
  Instant clock(uint32_t end) const { return net_.now() + (end == 0 ? Duration{} : settings_.clock_offset); }
  std::string wrong() const { return apps_[0].wrong().empty() ? apps_[1].wrong() : apps_[0].wrong(); }

  FlowcellRigSettings settings_;
  ModelNet net_;
  Prng prng_;
  std::array<Applications, 2> apps_;  ///< by who sends
  std::array<std::unique_ptr<FlowcellEnd>, 2> ends_;
  std::array<std::deque<Said>, 2> said_;  ///< by who said it
  std::array<std::vector<uint32_t>, 2> qpns_;
  std::array<Instant, 2> look_at_;
  std::vector<Instant> restart_at_;
  bool connected_ = false;
};

}  // namespace matchrdma::host::test
