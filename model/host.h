#pragma once
// A model NIC: several RC queue pairs behind one port.
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "dataplane/base/packet.h"
#include "dataplane/base/time.h"
#include "dataplane/base/types.h"
#include "model/cm_agent.h"
#include "model/rc_requester.h"
#include "model/rc_responder.h"
#include "model/rc_types.h"

namespace matchrdma::model {

/// Both halves of one queue pair. They fail together (IBA 10.3.1: the error state is the QP's).
struct Qp {
  QpIdentity id;
  RcRequester requester;
  RcResponder responder;
  Instant cnp_allowed{};  ///< next CNP for a marked packet
  bool cnp_due = false;

  Qp(const QpIdentity& id_, const RequesterConfig& rq, const ResponderConfig& rs,
     const MemoryConfig& own_memory, const MemoryConfig& peer_memory, uint64_t seed)
      : id(id_), requester(id_, rq, peer_memory), responder(id_, rs, own_memory, seed) {}
  bool failed() const { return requester.failed() || responder.failed(); }
  uint64_t violations() const { return requester.violations().count() + responder.violations().count(); }
};

struct HostConfig {
  Rate tx_rate{};               ///< of the NIC; 0: everything at once
  Duration cnp_interval{};      ///< answers CE marks with CNPs, at most one per QP in this time; 0: never
  bool number_packets = false;  ///< IPv4 identification counts up; else it is 0 in every packet
  uint16_t first_identification = 0;
};

struct HostStats {
  uint64_t received = 0, sent = 0, sent_bytes = 0;
  uint64_t foreign = 0;  ///< not RoCE, or for no QP here
  uint64_t bad_icrc = 0, cnps_sent = 0;
  uint64_t no_buffer = 0;  ///< the pool was empty: tried again a microsecond later
};

/// Routes packets to queue pairs and lets them send in turn. Packets in, packets out, now.
class Host {
 public:
  /// `pool` must outlive the host.
  Host(const HostConfig& config, PacketPool& pool)
      : config_(config), pool_(pool), identification_(config.first_identification) {}

  /// `id.local` must be new.
  Qp& add_qp(const QpIdentity& id, const RequesterConfig& requester, const ResponderConfig& responder,
             const MemoryConfig& own_memory, const MemoryConfig& peer_memory, uint64_t seed);
  /// Forgets a queue pair, as a process that exits does. The other side's truth pointer must go first.
  void remove_qp(Qpn local);
  /// Datagrams to QP 1 go to `cm`, and its MADs leave with the packets of the queue pairs. It must outlive the
  /// host.
  void set_cm(CmAgent* cm) { cm_ = cm; }
  /// A frame from the wire.
  void on_packet(Bytes frame, Instant now);
  /// Next packet to send at `now`; empty when there is none now. Call until empty.
  PacketRef poll(Instant now);
  /// When poll() has something to do next: in the past or present when it has now; never() when nothing is
  /// pending.
  Instant next_deadline() const;

  Qp* find(Qpn local);
  std::vector<std::unique_ptr<Qp>>& qps() { return qps_; }
  const HostStats& stats() const { return stats_; }
  /// All queue pairs: nothing left to complete, and the sum of the violations.
  bool idle() const;
  uint64_t violations() const;

 private:
  PacketRef poll_qp(Qp& qp, Instant now);
  PacketRef sent(PacketRef p, Instant now);
  void pace(uint32_t bytes, Instant now);
  bool ready(const Qp& qp, Instant now) const;

  HostConfig config_;
  PacketPool& pool_;
  CmAgent* cm_ = nullptr;
  std::vector<std::unique_ptr<Qp>> qps_;
  std::unordered_map<uint32_t, Qp*> by_number_;  ///< looked up only, never walked
  size_t turn_ = 0;
  Instant next_tx_{};
  Instant last_now_{};
  uint16_t identification_;
  HostStats stats_;
};

/// Everything about one connection between two hosts.
struct PairConfig {
  L2L3 path;                   ///< as sent by `a`; `b` sends the reverse
  uint16_t b_source_port = 0;  ///< 0: the same as a's
  uint8_t b_hop_limit = 0;     ///< 0: the same as a's
  Qpn qpn_a{0x11}, qpn_b{0x12};
  Psn start_a{0}, start_b{0};  ///< first PSN that a, that b sends
  uint32_t path_mtu = 1024;
  uint16_t pkey = 0xffff;
  RequesterConfig requester_a, requester_b;
  ResponderConfig responder_a, responder_b;
  MemoryConfig memory_a, memory_b;
  uint64_t seed = 1;
};

struct QpPair {
  Qp* a = nullptr;
  Qp* b = nullptr;
  /// At rest, nothing failed: both memories are what the completed requests make them. Records violations.
  bool check_memory(Instant now) const;
};

/// Adds the two queue pairs and tells each responder the truth of the other side's requester.
QpPair connect(Host& a, Host& b, const PairConfig& config);

}  // namespace matchrdma::model
