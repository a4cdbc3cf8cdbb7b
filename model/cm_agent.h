#pragma once
// The connection manager of one host: REQ, REP, RTU; DREQ, DREP (IBA 12.9).
#include <cstdint>
#include <vector>

#include "dataplane/base/packet.h"
#include "dataplane/base/time.h"
#include "model/cm_message.h"

namespace matchrdma::model {

/// One connection as this host wants it.
struct CmEndpoint {
  L2L3 path;  ///< of its MADs
  uint32_t local_id = 0;
  uint32_t expected_id = 0;  ///< passive side: communication id of the REQ that it answers
  Qpn qpn;
  Psn start;  ///< first PSN that the peer shall send
  uint32_t path_mtu = 1024;
  uint16_t service_port = 18515;
};

struct CmConfig {
  uint8_t response_timeout = 17;  ///< 4.096 us * 2^n until a MAD that was not answered is sent again
  uint8_t ack_timeout = 14;       ///< told in the REQ
  uint64_t first_transaction = 1;
  Psn first_psn;  ///< of QP 1
};

/// Opens and closes connections over a path that loses packets: what is not answered is sent again for ever.
/// Knows neither the queue pairs nor the NIC: packets come out of poll(), MADs go into on_packet().
class CmAgent {
 public:
  enum class State : uint8_t { kListening, kReqSent, kRepSent, kEstablished, kDreqSent, kClosed };
  struct Connection {
    CmEndpoint own;
    State state = State::kListening;
    uint32_t remote_id = 0;
    Qpn remote_qpn{};    ///< as the peer told
    Psn remote_start{};  ///< first PSN to send, as the peer told
    uint64_t transaction = 0;
    Instant resend = Instant::never();
  };

  explicit CmAgent(const CmConfig& config) : config_(config), psn_(config.first_psn.v) {}

  /// Ids are never used twice by one agent.
  void connect(const CmEndpoint& e, Instant now);
  void listen(const CmEndpoint& e);
  /// Either side may; the other one then closes too.
  void disconnect(uint32_t local_id, Instant now);

  /// A UD datagram to QP 1, ICRC right.
  void on_packet(const Frame& f, Instant now);
  /// Next MAD to send; empty when there is nothing (or the pool is exhausted).
  PacketRef poll(Instant now, PacketPool& pool);
  bool ready(Instant now) const { return !queue_.empty() || now >= next_timer(); }
  Instant next_timer() const;

  /// Null when there is none.
  const Connection* find(uint32_t local_id) const;

 private:
  struct Outgoing {
    CmMessage message;
    size_t connection;
  };
  Connection* by_local(uint32_t id);
  void send(size_t connection, CmType type);
  void on_req(const CmMessage& m, Instant now);
  void on_rep(const CmMessage& m);
  void await(Connection& c, State state, Instant now);
  Duration patience() const { return Duration{int64_t{4096} << config_.response_timeout}; }

  CmConfig config_;
  std::vector<Connection> connections_;
  std::vector<Outgoing> queue_;
  uint64_t transactions_ = 0;
  uint32_t psn_;
};

}  // namespace matchrdma::model
