#pragma once
// Two NICs and the paths between them, in virtual time.
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <vector>

#include "dataplane/base/prng.h"
#include "dataplane/base/time.h"
#include "host/model_fabric/packet.h"

namespace matchrdma::host {

/// One direction between the two NICs. Probabilities are per packet.
struct PathModel {
  double gigabits = 100;  ///< per second
  Duration delay = Duration::micros(10);
  double loss = 0;     ///< corrupted ones among them: the ICRC drops them
  double reorder = 0;  ///< comes later than packets behind it, by up to `reorder_by`
  Duration reorder_by = Duration::micros(50);
  double duplicate =
      0;  ///< comes a second time, up to `stale_by` later: retries of NICs, custody of proxies (C2)
  Duration stale_by = Duration::millis(50);
  double stall =
      0;  ///< from here on everything waits up to `stall_for` and then comes in order: a proxy's custody
  Duration stall_for = Duration::millis(5);
};

class ModelCustody;
class ModelNic;
struct NicModel;

/// Duty: the one clock, the events, the wires. Same seed, same run. Does not know what packets mean.
class ModelNet {
 public:
  /// So many paths of equal rights between the two; each has its own wire in each direction.
  ModelNet(uint64_t seed, const NicModel& a, const NicModel& b, uint32_t paths = 1);
  ~ModelNet();
  ModelNet(const ModelNet&) = delete;
  ModelNet& operator=(const ModelNet&) = delete;

  ModelNic& nic(uint32_t index) { return *nics_[index]; }
  /// Of what NIC `from` sends. Packets under way keep their time.
  void set_path(uint32_t from, const PathModel& model, uint32_t path = 0) {
    wires_[from].at(path).model = model;
  }
  const PathModel& path(uint32_t from, uint32_t path = 0) const { return wires_[from][path].model; }
  uint32_t paths() const { return static_cast<uint32_t>(wires_[0].size()); }
  /// From here on a proxy beside NIC `from` answers for the other end of this path (PROTOCOL.md, `early`).
  void add_custody(uint32_t from, uint32_t path = 0);
  /// What the proxy holds of this queue pair of NIC `from` is dropped: its flow was unregistered.
  void drop_custody(uint32_t from, uint32_t qpn);

  Instant now() const { return now_; }
  /// Does everything up to and including `until`.
  void run_until(Instant until);
  Instant next_event() const { return events_.empty() ? Instant::never() : events_.top().at; }

  struct Counters {
    uint64_t sent = 0, lost = 0, duplicated = 0, reordered = 0;
  };
  const Counters& counters(uint32_t from, uint32_t path = 0) const { return wires_[from][path].n; }

  // For the NICs and the proxies.
  void at(Instant time, std::function<void()> what);
  /// Puts it on the wire of its path now; returns when the NIC may send the next.
  Instant transmit(uint32_t from, ModelPacket packet, uint32_t bytes);
  /// The same behind the proxy.
  Instant cross(uint32_t from, ModelPacket packet, uint32_t bytes);
  Prng& prng() { return prng_; }

 private:
  struct Event {
    Instant at;
    uint64_t number;
    std::function<void()> what;
    bool operator<(const Event& o) const { return at != o.at ? at > o.at : number > o.number; }
  };
  struct Wire {
    PathModel model;
    Instant free_at, held_until;
    Instant near_free_at;  ///< between the NIC and its proxy
    Counters n;
    std::unique_ptr<ModelCustody> custody;
  };
  void deliver(uint32_t to, Instant time, ModelPacket packet);

  Prng prng_;
  Instant now_;
  uint64_t events_made_ = 0;
  std::priority_queue<Event> events_;
  std::array<std::vector<Wire>, 2> wires_;  ///< by path
  std::array<std::unique_ptr<ModelNic>, 2> nics_;
};

}  // namespace matchrdma::host
