#pragma once
// The receiving half: grants buffers ahead, counts the cells of each message, and says when it is there.
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "host/control/control_message.h"
#include "host/fabric/nic.h"
#include "host/flowcell/options.h"
#include "host/flowcell/token.h"

namespace matchrdma::host {

struct FlowcellReceived {
  uint64_t message = 0;
  uint64_t length = 0;  ///< bytes
};

struct FlowcellReceiverCounters {
  uint64_t cells = 0, duplicates = 0, stale = 0, probes = 0;
};

/// Duty: rules 1 and 3 of HOST.md at the receiver: a polled tail proves its cell, and the key of a message ends
/// before the application gets the buffer. Does not know which path a cell came by, or tokens.
class FlowcellReceiver {
 public:
  FlowcellReceiver(const FlowcellShape& shape, Nic& nic);
  ~FlowcellReceiver();
  FlowcellReceiver(const FlowcellReceiver&) = delete;

  /// The buffer of the next message, and what the sender must be told. Nothing: no slot is free now; an
  /// error: the NIC takes no more memory. The buffer is the library's until take_received() names the message.
  Result<std::optional<CellGrant>> receive_post(MutableBytes buffer);
  std::optional<FlowcellReceived> take_received();
  size_t under_way() const;

  /// The slot that this immediate names, or nothing: a probe.
  std::optional<uint32_t> slot_of(uint32_t immediate) const;
  /// A tail was polled; `plan`: what stands in its path's place for that slot. An error: the peer breaks the
  /// protocol.
  Result<void> on_tail(uint32_t immediate, const CellPlan& plan);

  const FlowcellReceiverCounters& counters() const { return n_; }

 private:
  struct Slot {
    bool used = false, has_been_used = false;
    uint64_t message = 0;  ///< or the last one that had it
    MutableBytes buffer;
    Region region;
    CellPlan plan{};
    std::vector<bool> cells{};  ///< empty until the first tail
    uint64_t missing = 0;
  };
  Result<void> begin(Slot& s, const CellPlan& plan) const;

  FlowcellShape shape_;
  Nic& nic_;
  std::vector<Slot> slots_;
  uint64_t next_message_ = 0;
  std::deque<FlowcellReceived> received_;
  FlowcellReceiverCounters n_;
};

}  // namespace matchrdma::host
