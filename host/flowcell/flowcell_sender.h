#pragma once
// The sending half: cuts messages into cells, gives each to the path that will have it there first, and gives
// it to another one where a path falls silent.
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/flowcell/cell_queue.h"
#include "host/flowcell/path_meter.h"
#include "host/flowcell/tracking_queue.h"

namespace matchrdma::host {

struct FlowcellSent {
  uint64_t message = 0;
  std::string error{};  ///< it was not sent: why
};

/// What befell a path, for people.
struct PathNews {
  enum class What : uint8_t {
    kSuspected,  ///< silent for T_soft: its cells go other ways, too
    kAnswered,   ///< it was only slow
    kFailed,     ///< silent four times as long, or its queue pair has failed: it is fenced
    kFenced,     ///< nothing of its old queue pair can arrive any more
    kRejoined,   ///< rebuilt, and its probe has come back
  };
  Instant at;
  uint32_t path = 0;
  What what = What::kSuspected;
  Duration silent{};  ///< kSuspected, kFailed: since its last token
};

struct FlowcellSenderCounters {
  uint64_t cells = 0, duplicates = 0;  ///< posted; of them such that had been posted before
  uint64_t suspected = 0, failed = 0;  ///< times that a path was
  uint64_t probes = 0, tokens = 0;
};

/// Duty: rules 1 and 2 of HOST.md at the sender: a message is released when the receiver has confirmed every
/// cell and no path can carry a copy of one any more. Does not make or fence queue pairs. Time is an argument.
class FlowcellSender {
 public:
  enum class PathState : uint8_t {
    kDown,     ///< no queue pair, or it is being fenced
    kProbing,  ///< rebuilt: one probe has to come back
    kGood,
    kSuspect,  ///< silent for T_soft: what it carries is sent another way too
  };
  struct PathView {
    PathState state = PathState::kDown;
    Rate rate;
    Duration round_trip;
    uint64_t in_flight = 0;  ///< bytes
    uint64_t cells = 0;      ///< posted to it, in all epochs
  };

  explicit FlowcellSender(const FlowcellOptions& options);
  ~FlowcellSender();
  FlowcellSender(const FlowcellSender&) = delete;

  /// `data` stays until take_sent() names the message: numbers count from 0. A message that was refused keeps
  /// its number, and the buffer that the receiver posts for it stays empty.
  uint64_t send(Bytes data, uint32_t lkey);
  std::optional<FlowcellSent> take_sent();
  size_t under_way() const { return messages_.size(); }
  uint64_t confirmed_bytes() const { return confirmed_bytes_; }

  /// False: the message has a slot, or the slot a message that was not sent whole.
  bool on_grant(const CellGrant& g);
  void path_up(uint32_t path, CellQueue& queue, Instant now, bool rebuilt);
  /// It is dead, or the peer says so. Cells of a path that was not silent have most often come: they go other
  /// ways when the fence has told which did not, or when the peer has not answered for T_soft.
  void path_down(uint32_t path, Instant now);
  /// Nothing of that queue pair can arrive any more, and so many of its tails have (HOST.md rule 2). False: the
  /// peer counts more than there were.
  bool path_fenced(uint32_t path, uint64_t tails, Instant now);
  /// False: the peer counts tails that were never posted.
  bool poll(Instant now);
  /// A path that has been silent for four T_soft, three of them since it was asked: this host may have slept.
  /// What to do is the owner's affair.
  std::optional<uint32_t> dead_path(Instant now) const;
  Instant next_wakeup(Instant now) const;

  PathView view(uint32_t path) const;
  std::vector<PathNews> take_news() { return std::exchange(news_, {}); }
  const FlowcellSenderCounters& counters() const { return n_; }

 private:
  struct Message;
  struct Path {
    PathState state = PathState::kDown;
    CellQueue* queue = nullptr;
    PathMeter meter;
    TrackingQueue tracking{};
    std::deque<TrackedCell> leaving{};  ///< confirmed, and the NIC may still send them again
    Instant progress{};                 ///< the last token, or the first post since it was idle
    Instant probed{};
    Instant dead_at{};                    ///< while it is silent
    Instant again_at = Instant::never();  ///< while it is down: its cells are sent again
    uint64_t cells = 0;
  };
  struct Work {
    Message* message;
    uint32_t cell;
    bool again;
  };

  Message* find(uint64_t number);
  void confirm(Path& p, const TrackedCell& c, Instant now);
  void tell(const Path& p, PathNews::What what, Instant now);
  void confirm(Message& m, uint32_t cell);
  bool confirm_all(Message& m);
  bool confirm_slot(uint32_t slot);
  bool keep_grant(const CellGrant& g);
  void release_if_done(const Message& m);
  void let_go(const TrackedCell& c);
  bool take_tokens(Path& p, Instant now);
  void look_for_silence(Path& p, Instant now);
  void probe(Path& p, Instant now);
  void send_again(const Path& p);
  Duration soft_timeout(const Path& p) const { return p.meter.soft_timeout(options_.soft_floor); }
  uint32_t most_cells() const;
  std::optional<Work> next_work();
  void give_cell_size(Message& m);
  Path* choose(uint32_t bytes, Instant now);
  void post(Path& p, const Work& w, Instant now);
  void schedule(Instant now);
  double total_rate() const;

  FlowcellOptions options_;
  std::vector<Path> paths_;
  std::map<uint64_t, std::unique_ptr<Message>> messages_;
  std::map<uint64_t, CellGrant> grants_;  ///< of messages that were not given yet
  uint64_t next_message_ = 0, confirmed_bytes_ = 0;
  uint64_t waiting_bytes_ = 0;  ///< of granted messages, that no path was given
  std::deque<CellRef> again_;   ///< cells of silent and dead paths, before all new ones
  std::deque<FlowcellSent> sent_;
  std::vector<PathNews> news_;  ///< the oldest are forgotten where nobody takes them
  FlowcellSenderCounters n_;
};

}  // namespace matchrdma::host
