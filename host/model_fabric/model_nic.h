#pragma once
// A NIC as the library meets it at its worst: IBA's services, and every freedom that they leave.
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "dataplane/base/time.h"
#include "host/fabric/header_bytes.h"
#include "host/fabric/nic.h"
#include "host/model_fabric/packet.h"

namespace matchrdma::host {

class ModelNet;

struct NicModel {
  NicLimits limits{.max_send_queue = 1 << 16,
                   .max_receive_queue = 1 << 16,
                   .max_completion_queue = 1 << 17,
                   .max_region = uint64_t{1} << 40,
                   .uc = true,
                   .atomics = true,
                   .name = "model"};
  uint32_t header_bytes = kHeaderBytes;  ///< of every packet
  /// For tests of the tests: keys that were removed go on working, so nothing keeps stale writes out (HOST.md
  /// rule 3).
  bool keys_never_end = false;
  /// Probability that memory shows the first half of a WRITE without immediate for `torn_for` alone.
  double torn = 0;
  Duration torn_for = Duration::micros(3);
};

/// Duty: one NIC. UC as it is (H1): an ONLY packet executes whatever came before it, a message that lost its
/// middle is a partial write without completion, an empty receive queue drops in silence, a full completion
/// queue kills. RC is go-back-N (IBA 9.7). Keys are looked at when a packet arrives.
class ModelNic final : public Nic {
 public:
  ModelNic(ModelNet& net, uint32_t index, const NicModel& model);
  ~ModelNic() override;

  const NicLimits& limits() const override { return model_.limits; }
  Result<QpHandle> create_qp(const QpOptions& options) override;
  QpAddress address(QpHandle qp) const override;
  Result<void> connect(QpHandle qp, const QpAddress& peer, const ConnectOptions& options) override;
  void fail_qp(QpHandle qp) override;
  void destroy_qp(QpHandle qp) override;
  Result<Region> add_region(MutableBytes memory, Access access) override;
  void remove_region(const Region& region) override;
  size_t post_send(QpHandle qp, std::span<const SendRequest> requests) override;
  size_t post_receive(QpHandle qp, std::span<const ReceiveRequest> requests) override;
  size_t poll(std::span<Completion> out) override;

  /// A queue pair by its number; it may be gone.
  std::optional<QpHandle> handle_of(uint32_t qpn) const;
  /// A request on a queue pair that works may still read from this memory.
  bool reads(Bytes memory) const;

  /// From the wire.
  void arrive(const ModelPacket& p);

  struct Counters {
    uint64_t no_receive = 0;  ///< dropped: the receive queue was empty
    uint64_t bad_key = 0;     ///< dropped: no such key, or beyond it
    uint64_t nobody = 0;      ///< dropped: no such queue pair, or not ready
    uint64_t partial = 0;     ///< packets of UC messages that had lost some before
    uint64_t resent = 0;      ///< packets that RC sent again
    uint64_t overflows = 0;   ///< of the completion queue
  };
  const Counters& counters() const { return n_; }

 private:
  struct Qp;
  struct Memory {
    MutableBytes bytes;
    Access access;
    bool removed = false;
  };

  Qp* find(QpHandle handle) const;
  Qp* find_qpn(uint32_t qpn) const;
  void complete(Completion c);
  void flush(Qp& q);
  void flushed(const Qp& q, Completion::Kind kind, uint64_t id);
  void fail(Qp& q);
  /// The oldest request ends with this status, and the queue pair with it.
  void fail_request(Qp& q, Completion::Status status);
  // Sending.
  void pump(uint32_t path);
  bool send_next(Qp& q);
  ModelPacket packet_of(Qp& q, int64_t psn);
  void arm_timer(Qp& q);
  void on_timer(uint32_t qpn, uint64_t version);
  void retire(Qp& q, int64_t acked_below);
  void answered(Qp& q, const ModelPacket& p);
  // Receiving.
  void answer(Qp& q, ModelPacket::Kind kind, int64_t psn, std::vector<uint8_t> payload = {});
  void take_unreliable(Qp& q, const ModelPacket& p);
  void take_reliable(Qp& q, const ModelPacket& p);
  bool needs_receive(const ModelPacket& p) const;
  bool writable(const ModelPacket& p) const;
  void execute(Qp& q, const ModelPacket& p);
  void write(const ModelPacket& p);
  void end_torn_writes();
  void take_atomic(Qp& q, const ModelPacket& p);

  ModelNet& net_;
  uint32_t index_;
  NicModel model_;
  uint32_t next_qpn_, next_key_ = 1;
  std::vector<std::unique_ptr<Qp>> qps_;
  std::map<uint32_t, Memory> memory_;  ///< by rkey
  std::deque<Completion> completions_;
  /// Of one path: its wire is one; queue pairs take turns, a packet each.
  struct Port {
    bool waits = false;
    size_t turn = 0;
  };
  std::vector<Port> ports_;
  std::vector<std::pair<MutableBytes, std::vector<uint8_t>>> torn_;  ///< what is still to be written
  Counters n_;
};

}  // namespace matchrdma::host
