#pragma once
// One queue pair of a flowcell connection: cells and tokens out, tails and tokens in.
#include <memory>
#include <optional>
#include <vector>

#include "host/control/control_message.h"
#include "host/fabric/nic.h"
#include "host/flowcell/options.h"
#include "host/flowcell/token.h"

namespace matchrdma::host {

/// A cell to be written: where it is here, and where it goes.
struct CellWrite {
  Bytes data;
  uint32_t lkey = 0;
  uint64_t remote = 0;
  uint32_t rkey = 0;
  uint32_t immediate = 0;
  uint32_t slot = 0;
  CellPlan plan;
};

/// Duty: one life (epoch) of one path: queue pair, rings, the room of its queues. Does not know which cells go
/// where, or what is in a message. The memory it shares with the peer lives as long as it does.
class CellQueue {
 public:
  /// Room for a cell beside tokens whose completions nobody asked for.
  static constexpr uint32_t kLeastSendQueue = 50;

  static Result<std::unique_ptr<CellQueue>> open(const FlowcellOptions& options, Nic& nic, uint32_t path,
                                                 uint32_t epoch);
  ~CellQueue();
  CellQueue(const CellQueue&) = delete;

  QpHandle qp() const { return qp_; }
  uint32_t epoch() const { return epoch_; }
  CellPathOpen address() const;
  Result<void> connect(const CellPathOpen& peer);
  bool connected() const { return peer_.has_value(); }

  /// Cells that may be posted now: room in the send queue, receives at the peer for their tails.
  bool room(size_t cells_in_flight) const;
  /// One chain: plan where the message is new to this path, and one WRITE with immediate: its last packet,
  /// which completes at the peer, is the cell's tail (HOST.md C1). Returns the number behind its last request:
  /// once completed() has reached it the NIC reads it no more.
  uint64_t post_cell(const CellWrite& w);
  uint64_t completed() const { return completed_; }
  /// A tail without a cell.
  uint64_t post_probe(uint32_t immediate);
  /// Of all tails so far; false: there is no room now.
  bool post_token(Duration residence);

  /// A completion of this queue pair; true: a tail has come.
  bool take(const Completion& c);
  void repost();
  std::optional<CellToken> next_token();
  CellPlan plan(uint32_t slot) const;
  uint32_t tails() const { return tails_; }

  /// To the error state: nothing leaves and nothing is written any more.
  void fail();
  /// After fail(): every request has come back, so all that took effect has been seen.
  bool drained() const { return posted_ == completed_ && receives_ == 0; }

 private:
  CellQueue(const FlowcellOptions& options, Nic& nic, uint32_t path, uint32_t epoch)
      : options_(options), nic_(nic), path_(path), epoch_(epoch) {}
  Result<void> prepare();
  MutableBytes small_place(size_t bytes);
  void post(std::span<SendRequest> chain);

  FlowcellOptions options_;
  Nic& nic_;
  uint32_t path_, epoch_;
  QpHandle qp_;
  std::optional<CellPathOpen> peer_;
  /// Tokens from the peer, plans from the peer, and what leaves from here: one place a work request.
  std::vector<uint8_t> memory_;
  Region region_;
  bool region_added_ = false;
  uint64_t posted_ = 0, completed_ = 0;  ///< work requests of the send queue
  uint64_t last_signalled_ = 0;
  uint32_t receives_ = 0;  ///< posted and not back
  uint32_t tails_ = 0;
  uint64_t tokens_out_ = 0, tokens_in_ = 0;  ///< numbers; of the lower half is said
  std::vector<uint64_t> planned_;            ///< by slot: the message whose plan was written, + 1
  bool failed_ = false;
};

}  // namespace matchrdma::host
