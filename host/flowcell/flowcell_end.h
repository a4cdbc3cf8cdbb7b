#pragma once
// One end of a flowcell connection: both halves on one NIC, and the life of its paths.
#include <memory>
#include <string>
#include <vector>

#include "host/flowcell/cell_queue.h"
#include "host/flowcell/flowcell_receiver.h"
#include "host/flowcell/flowcell_sender.h"

namespace matchrdma::host {

/// A queue pair, for those who registered its flow at a proxy.
struct FlowcellFlow {
  uint32_t path = 0, epoch = 0;
  QpAddress local, remote;
};

/// Duty: makes the queue pairs, takes completions to whom they concern, fences what has failed and builds it
/// again with new numbers (HOST.md rule 2, C3). Time is an argument; what is said to the peer goes over the
/// caller's control connection, in order and without loss.
class FlowcellEnd {
 public:
  static Result<std::unique_ptr<FlowcellEnd>> make(const FlowcellOptions& options, Nic& nic, Instant now);
  ~FlowcellEnd();
  FlowcellEnd(const FlowcellEnd&) = delete;

  FlowcellSender& sender() { return sender_; }
  const FlowcellReceiver& receiver() const { return receiver_; }
  /// The buffer of the next message: its number, or nothing: all slots are taken.
  Result<std::optional<uint64_t>> receive_post(MutableBytes buffer);
  std::optional<FlowcellReceived> take_received() { return receiver_.take_received(); }

  /// What is to be said to the peer.
  std::vector<ControlMessage> take_control() { return std::exchange(control_, {}); }
  /// What the peer says; false: it is none of this connection's kinds.
  bool on_control(const ControlMessage& m, Instant now);

  /// Takes completions and does all that is due. Call at next_wakeup() at the latest, and often. Returns how
  /// many completions and tokens there were.
  size_t poll(Instant now);
  Instant next_wakeup(Instant now) const;
  /// Why nothing that is under way can end; empty while it can.
  const std::string& error() const { return error_; }

  /// Flows whose queue pairs are connected, and such whose queue pairs are fenced, since the last call.
  std::vector<FlowcellFlow> take_connected() { return std::exchange(connected_, {}); }
  std::vector<FlowcellFlow> take_fenced() { return std::exchange(fenced_, {}); }
  uint32_t paths() const { return static_cast<uint32_t>(paths_.size()); }

 private:
  struct Path {
    std::unique_ptr<CellQueue> queue;
    uint32_t epoch = 0;
    std::optional<CellPathOpen> peer;  ///< of this epoch, or of the next
    bool connected = false, peer_ready = false, up = false, failed = false;
    bool fence_heard = false, fence_answered = false;
    std::optional<uint64_t> peer_fenced;  ///< tails that the peer has seen
    Instant open_at;                      ///< after a failure
    Duration pause{};
    Instant up_at;
    FlowcellFlow flow;        ///< once it is up
    uint32_t tokens_for = 0;  ///< tails that the newest token told of
    Instant tail_at;
  };

  FlowcellEnd(const FlowcellOptions& options, Nic& nic);
  Result<void> open(uint32_t path);
  void connect(uint32_t path, Instant now);
  void go(uint32_t path, Instant now);
  void fail(uint32_t path, Instant now);
  void take(const Completion& c, Instant now);
  void say_tokens(Instant now);
  void end_fence(uint32_t path, Instant now);
  bool agrees(const CellPathOpen& peer);
  void broken(std::string why);

  FlowcellOptions options_;
  Nic& nic_;
  FlowcellSender sender_;
  FlowcellReceiver receiver_;
  std::vector<Path> paths_;
  std::vector<ControlMessage> control_;
  std::vector<FlowcellFlow> connected_, fenced_;
  std::vector<Completion> completions_;
  std::string error_;
};

}  // namespace matchrdma::host
