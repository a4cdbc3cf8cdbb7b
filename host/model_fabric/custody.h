#pragma once
// A proxy in `early` mode beside one NIC, as the library meets it: it answers for the far end and delivers
// later.
#include <cstdint>
#include <deque>
#include <map>
#include <memory>

#include "dataplane/base/time.h"
#include "host/model_fabric/packet.h"

namespace matchrdma::host {

class ModelNet;

/// Duty: custody of what NIC `from` sends over one path: takes packets in order, acknowledges them at once and
/// goes on delivering them whatever becomes of the sender (HOST.md C1, C2). Atomics are not answered for, nor
/// is anything behind one. Unreliable services pass.
class ModelCustody {
 public:
  ModelCustody(ModelNet& net, uint32_t from, uint32_t path) : net_(net), from_(from), path_(path) {}

  void take(ModelPacket p, uint32_t bytes);
  /// An answer of the far end; true: it was for the proxy.
  bool takes_answer(const ModelPacket& p);
  void drop(uint32_t qpn);

 private:
  struct Held {
    ModelPacket packet;
    uint32_t bytes;
  };
  struct Flow {
    int64_t expected = 0, delivered_below = 0;
    int64_t told_below = 0;  ///< acknowledged to the sender
    std::deque<Held> held;   ///< from delivered_below on
    bool nak_sent = false;
    uint64_t timer = 0;  ///< version: older timers are void
    Instant last_progress;
    uint32_t to_qpn = 0;
  };
  using Key = std::pair<uint32_t, uint64_t>;  ///< queue pair of the sender, and its session

  void tell(const Key& key, Flow& f);
  void answer(const Key& key, const Flow& f, ModelPacket::Kind kind, int64_t psn);
  /// `answered`: the atomic that is done, if one is.
  void confirm(const Key& key, Flow& f, int64_t below, int64_t answered = -1);
  void send_again(const Key& key, Flow& f);
  void arm(const Key& key, Flow& f);

  ModelNet& net_;
  uint32_t from_, path_;
  std::map<Key, Flow> flows_;
};

}  // namespace matchrdma::host
