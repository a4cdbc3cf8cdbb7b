#pragma once
// What the two proxies say to each other (PROTOCOL 6), as typed values. Sealing and datagrams are the channel's
// work.
#include <array>
#include <cstdint>
#include <optional>
#include <variant>

#include "dataplane/base/time.h"
#include "dataplane/base/types.h"
#include "dataplane/flow/ack_template.h"
#include "dataplane/flow/flow_key.h"
#include "dataplane/flow/policy.h"

namespace matchrdma {

/// One QP pair as an orchestrator knows it (PROTOCOL 3, learner 3). Side 0 is `a`, side 1 is `b`.
struct Registration {
  struct End {
    IpAddress ip{};
    Qpn qpn{};
    bool has_start = false;  ///< the flow *sent by* this end starts at `start`; otherwise it is joined mid-flow
    Psn start{};
    int64_t msn = 0;  ///< messages its peer had completed before `start` (0 if fresh)
    bool operator==(const End&) const = default;
  };
  End a, b;
  uint16_t vlan_outer = 0, vlan_inner = 0, port_pair = 0;
  uint32_t path_mtu = 0;                 ///< 0: not known yet (learners only)
  bool credits = false;                  ///< end-to-end credits in use
  std::optional<Completion> completion;  ///< none: as the traffic class of each flow says
  bool operator==(const Registration&) const = default;
  /// The pair of a flow: its sender is `a`.
  static Registration of(const FlowKey& key, Qpn sender) {
    Registration r;
    r.a = {key.src, sender};
    r.b = {key.dst, key.dst_qpn};
    r.vlan_outer = key.vlan_outer;
    r.vlan_inner = key.vlan_inner;
    r.port_pair = key.port_pair;
    return r;
  }
  /// Key of the flow that this end sends.
  FlowKey flow(bool from_a) const {
    const End& from = from_a ? a : b;
    const End& to = from_a ? b : a;
    return {from.ip, to.ip, to.qpn, vlan_outer, vlan_inner, port_pair};
  }
};

/// vouched: CM or a registration named the pair; otherwise the far side must have seen it on its path (C10).
/// again: the far side has started anew, and packets are owned: no proof of the path is needed for them.
struct FlowOpen {
  FlowId id;
  FlowKey key;
  Qpn sender_qpn;
  uint32_t path_mtu;
  Completion completion;
  bool credits;
  bool vouched;
  bool again;
};
enum class OpenAnswer : uint8_t {
  kAccepted,
  kRefused,    ///< the far side knows better, or has no room
  kNotOnPath,  ///< not seen both ways within the last second (C10): ask again later
};
struct FlowOpened {
  FlowId id;
  OpenAnswer answer;
};
/// base: PSN from which both keep state. fresh: no barrier is needed. msn: messages completed below base (fresh
/// only).
/// heard: the receiver has confirmed something of this flow to a former life of the far side (C9).
struct FlowBase {
  FlowId id;
  Seq base;
  bool fresh;
  bool heard;
};
struct FlowBaseAck {
  FlowId id;
  Seq base;
};
/// end: the receiver's own ACK that lifted the barrier covers everything below.
struct FlowLifted {
  FlowId id;
  Seq end;
};
struct FlowLiftedAck {
  FlowId id;
};
/// A new generation or the end of one: the far side forgets all of it (C4).
/// whole_qp: the QP itself lives anew, so the reverse flow ends too. same_life: the QP lives on, so that what
/// still comes of it is passed and not dropped.
struct FlowClose {
  FlowId id;
  bool whole_qp;
  bool same_life;
};
struct FlowClosed {
  FlowId id;
};
/// The same in the data queue, behind the last old packet.
struct CloseMarker {
  FlowId id;
};
/// In the data queue (H1): everything below `highest_end` was sent before this mark. `ack_echo`: newest
/// CUSTODY_ACK seen. `seq` grows: it is the source's time, or one more than the mark before. `confirmed_end`:
/// below it nothing is kept any more, so nothing below can be asked for.
struct SentMark {
  FlowId id;
  uint64_t seq;
  Seq highest_end;
  Seq confirmed_end;
  uint64_t ack_echo;
};

struct SeqRange {
  Seq begin = 0, end = 0;
};
/// What the destination holds and what the receiver has. Only `confirmed_end` releases custody.
struct CustodyAck {
  static constexpr int kRanges = 16;
  FlowId id;
  uint64_t seq = 0;
  Seq confirmed_end = 0;  ///< the receiver acknowledged everything below
  Seq received_end = 0;   ///< the destination has everything below
  int ranges = 0;         ///< received beyond, ascending; hints
  std::array<SeqRange, kRanges> range{};
  Seq known_begin = 0, known_end = 0;  ///< nothing is said about PSNs outside of it but below received_end
  bool msn_known = false;
  Msn msn_real;            ///< newest MSN of the receiver
  uint8_t credits = 31;    ///< newest credit code
  uint64_t mark_echo = 0;  ///< newest SentMark
  AckTemplate form;        ///< how the receiver's ACKs look
};
/// The receiver killed the QP: both flows of it are poisoned (H12). gave_up: the receiver said nothing for too
/// long (0x63); the source looks first whether its sender is acknowledged by another path (C9, C10).
struct FlowFault {
  FlowId id;
  uint8_t syndrome;
  bool gave_up;
  Seq confirmed_end;  ///< the receiver has everything below: it must not fail with the rest
  Msn msn_real;
};
struct FlowFaultAck {
  FlowId id;
};
/// The receiver acknowledges what this flow never sent: the pair was inferred wrongly (C6). Said again with
/// every further sign, so a lost one does not matter.
struct FlowContradicted {
  FlowId id;
};
/// seq rises with every REGISTER and UNREGISTER sent, repeats too: an old one that comes late changes nothing.
struct RegisterQp {
  Registration reg;
  uint64_t seq;
};
struct RegisterQpAck {
  Registration reg;
};
/// The host fenced that QP: everything owned of it is destroyed before the answer (PROTOCOL 3).
struct UnregisterQp {
  Registration reg;
  uint64_t seq;
};
struct UnregisterQpAck {
  Registration reg;
};
/// No new custody for flows to this side; `on` false: as before. Repeated until answered; the answer to a drain
/// comes when all that was owned is confirmed.
struct Drain {
  bool on;
};
struct DrainAck {
  bool on;
};
/// Rate the source may inject for one receiver; lost ones do not matter.
struct Budget {
  GroupKey group;
  Rate rate;
  Duration validity;
  uint64_t seq;
};
/// Liveness and delay, four timestamps (t1 sent, t2 received, t3 answered).
struct Probe {
  Instant t1;
};
struct ProbeAck {
  Instant t1, t2, t3;
};

using Message =
    std::variant<FlowOpen, FlowOpened, FlowBase, FlowBaseAck, FlowLifted, FlowLiftedAck, FlowClose, FlowClosed,
                 CloseMarker, SentMark, CustodyAck, FlowFault, FlowFaultAck, FlowContradicted, RegisterQp,
                 RegisterQpAck, UnregisterQp, UnregisterQpAck, Drain, DrainAck, Budget, Probe, ProbeAck>;

/// True for what must travel in order with the packets (PROTOCOL 6, column "queue").
inline bool in_data_queue(const Message& m) {
  return std::holds_alternative<SentMark>(m) || std::holds_alternative<CloseMarker>(m);
}

}  // namespace matchrdma
