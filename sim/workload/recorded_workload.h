#pragma once
// Messages of a recording, played again in a closed loop.
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/workload/workload.h"

namespace matchrdma::sim {

/// One message as it was recorded.
struct RecordedMessage {
  uint32_t source = 0, destination = 0;  ///< endpoints; of the data, so a READ goes to who posted it
  uint32_t qp = 0;                       ///< messages of one QP are posted in order
  int64_t bytes = 0;
  SimTime start{};                       ///< its post
  SimTime completed = SimTime::never();  ///< at who posted it; never: not recorded, so nothing waits for it
  bool read = false;                     ///< posted at the destination
};

/// Duty: posts what was recorded, with the reactions that were recorded. A message waits for the post of the
/// one before it on its QP and for the newest that was complete when it was posted, and keeps the time that had
/// passed since the later of these two. So a QP never has more outstanding than it had, whatever the distance,
/// and what overlapped still does. The first message of a QP keeps its own time. A READ's data is posted when
/// its request has come over an empty network, which carries no packet of it. Does not know what made one QP
/// wait for another.
class RecordedWorkload final : public Workload, private EventHandler {
 public:
  /// hosts: of the endpoints, by number.
  RecordedWorkload(Network& network, std::vector<RecordedMessage> recording, std::vector<uint32_t> hosts);

  void open(const Open& open) override;
  void start() override;
  bool done() const override { return messages().size() == recording_.size() && outstanding() == 0; }

 private:
  static constexpr size_t kNone = ~size_t{0};
  static constexpr uint64_t kData = uint64_t{1} << 63;  ///< and a number in requests_: its data is due
  struct Part {
    size_t recorded;                           ///< number in the recording
    size_t waits_for = kNone;                  ///< part of the same QP
    SimSpan after_post{}, after_completion{};  ///< of the part before it; of what it waits for
    uint32_t flow = 0;
    SimTime completed = SimTime::never();  ///< in the run
  };
  /// One QP of the recording; flows in both directions where it has READs and others.
  struct Queue {
    std::vector<Part> parts;
    size_t next = 0;       ///< to be posted
    bool pending = false;  ///< an event will post it
    SimTime posted{};      ///< the part before it
  };
  struct Place {
    uint32_t queue;
    size_t part;
  };

  void link(Queue& q) const;
  void arrange(uint32_t queue);
  void post_part(const Place& at);
  const RecordedMessage& recorded(const Place& at) const {
    return recording_[queues_[at.queue].parts[at.part].recorded];
  }
  void complete(const Place& at, SimTime now);
  /// argument: a queue whose next part is due, or kData.
  void on_event(SimTime now, uint64_t argument) override;
  void message_acknowledged(size_t message, SimTime now) override;
  void message_delivered(size_t message, SimTime now) override;

  std::vector<RecordedMessage> recording_;
  std::vector<uint32_t> hosts_;
  std::vector<Queue> queues_;
  std::vector<Place> places_;    ///< by message of the run
  std::vector<Place> requests_;  ///< READs, in the order of their posts
  SimTime started_{};
};

}  // namespace matchrdma::sim
