#pragma once
// Ours: a transfer is cut into cells, and each cell takes the path that will have it there first (HOST,
// "flowcell").
#include <cstdint>
#include <deque>
#include <vector>

#include "model/growing_ring.h"
#include "sim/fattree/flowcell_path.h"
#include "sim/fattree/transfer_load.h"
#include "sim/timer.h"

namespace matchrdma::sim {

struct FlowcellSettings {
  uint32_t paths = 4;          ///< from one host to another
  int64_t window = 192 << 10;  ///< bytes of a transfer on their way, one cell at least: 1.2 BDP
  uint32_t token_bytes = 16;
  SimSpan turnaround = SimSpan::micros(1);  ///< a receiver polls a tail and posts its token
  FlowcellRule rule{};
};

/// Duty: cells, tokens, tracking queues and suspicion for all pairs of hosts. A path is one QP with a label of
/// its own, and a second one for its tokens, in the class of ACKs and CNPs, so that they wait behind no data. A
/// transfer is over when a cell of each number has come, whatever else has.
class FlowcellLoad final : public TransferLoad {
 public:
  FlowcellLoad(Network& network, std::vector<Arrival> arrivals, const FlowcellSettings& settings,
               const SenderSettings& sender, const ReceiverSettings& receiver);
  int64_t sent_again() const override;
  uint64_t suspected() const { return suspected_; }  ///< times that a path came under suspicion

 private:
  struct Cell {
    uint32_t transfer = 0, number = 0;
    int64_t bytes = 0;
    uint32_t copies = 0;  ///< sent before so often; then its time is no sample
  };
  struct Tracked {
    Cell cell{};
    CellPost post{};
    bool copied = false;  ///< on another path too
  };
  struct Path {
    Flow flow{}, tokens{};  ///< the second from the receiver
    FlowcellPath known;
    bool suspect = false;
    model::GrowingRing<Tracked> tracked{};
    model::GrowingRing<Cell> posted{};  ///< and not delivered
  };
  struct Sending {
    uint32_t transfer = 0;
    int64_t offset = 0, in_flight = 0;
    uint32_t next_number = 0, unconfirmed = 0;
  };
  /// One direction between two hosts.
  struct Pair {
    std::vector<Path> paths{};
    std::vector<Sending> sending{};
    std::vector<Cell> again{};  ///< cells of suspects, which go first
    uint32_t turn = 0;          ///< path that equals are counted from
    Timer* suspicion = nullptr;
  };
  /// Of a transfer: who has seen which cell. Bits.
  static constexpr uint8_t kArrived = 1, kConfirmed = 2;

  void begin(uint32_t transfer, SimTime now) override;
  void on_other_event(SimTime now, uint64_t argument) override;
  void on_acknowledged(uint32_t, uint32_t, size_t, SimTime) override {}
  void on_delivered(uint32_t host, uint32_t qp, int64_t bytes, bool message_ended, SimTime now) override;

  /// Of the QPs of a path.
  uint32_t number(uint32_t pair, uint32_t path, bool token) const {
    return (pair * s_.paths + path) * 2 + token;
  }
  uint32_t pair_of(uint32_t source, uint32_t destination) const {
    return source * network().hosts() + destination;
  }
  void open(uint32_t pair, const Transfer& t);
  void start_anew(Pair& pair);
  void fill(uint32_t pair, SimTime now);
  bool send_next(uint32_t pair, Sending& s, SimTime now);
  void send(uint32_t pair, const Cell& cell, SimTime now);
  uint32_t best_path(Pair& pair, const Cell& cell, SimTime now) const;
  int64_t cell_size(const Pair& pair, const Transfer& t, const Sending& s) const;
  void arrived(const Cell& cell, SimTime now);
  void take_token(uint32_t pair, uint32_t path, SimTime now);
  void confirm(uint32_t pair, const Cell& cell, SimTime now);
  static Instant overdue_at(const Path& path, const Tracked& t);
  void look_for_suspects(uint32_t pair, SimTime now);
  void set_timer(uint32_t pair);

  FlowcellSettings s_;
  SenderSettings sender_;
  ReceiverSettings receiver_;
  double line_;                             ///< bits per second
  std::vector<Pair> pairs_;                 ///< by source and destination
  std::deque<Timer> timers_;                ///< do not move
  std::vector<std::vector<uint8_t>> seen_;  ///< by transfer and number of the cell
  std::vector<uint32_t> missing_;           ///< cells that have not arrived, by transfer
  QpNumbers of_receiver_;                   ///< see number()
  uint64_t suspected_ = 0;
  int64_t copied_ = 0;  ///< bytes
};

}  // namespace matchrdma::sim
