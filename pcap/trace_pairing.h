#pragma once
// Which two streams of a capture belong to one QP pair. Offline, with the whole capture in view.
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "dataplane/wire/cm_mad.h"
#include "dataplane/wire/frame.h"
#include "pcap/trace_stream.h"

namespace matchrdma {

/// Duty: weighs, for every stream that carries answers, which stream of requests they fit. Answers before
/// requests, PSNs nobody sent and message counts that do not keep step speak against a candidate; equal or
/// derived UDP ports and CM handshakes speak for it. Pairs what is each other's single best, and says apart
/// which of these pairs is beyond doubt: only those may be told to a proxy (C6).
class TracePairing {
 public:
  explicit TracePairing(std::vector<TraceStream>& streams) : streams_(streams) {}

  void request(int stream, const Frame& f, Instant time);
  void answer(int stream, const Frame& f);
  /// The QP lives anew in another stream: this one is told nothing more.
  void ended(int stream) { side(stream).ended = true; }
  /// The packet at `index` of the file is a MAD. True when it is the REP of a handshake not seen before, so
  /// that both its QPs begin to live now: `requester` and `responder` are the keys of the packets to them.
  bool cm_mad(const CmMad& mad, const Frame& f, uint64_t index, FlowKey& requester, FlowKey& responder);
  /// Sets partner, evidence, path MTU and MSN of all streams. `whole`: the capture shows every packet whole;
  /// where it does not, nothing is beyond doubt.
  void resolve(bool whole);

 private:
  /// Evidence that the answers in one stream belong to the requests of another.
  struct Edge {
    int requests = -1;
    uint32_t fits = 0;    ///< answers whose PSN that stream had sent
    uint32_t strong = 0;  ///< of these: on a message end or AckReq, message count in step
    uint32_t against = 0;
    uint32_t msn_offset = 0;  ///< MSN minus messages seen; the same for every ACK of the right stream
    bool msn_known = false, msn_from_ack = false;
    Seq acked = -1;           ///< highest PSN acknowledged
    uint32_t steps_back = 0;  ///< of these it has been told
    bool reused = false;      ///< a step went back to what was acknowledged: another life of the QP
    bool dead() const { return against > 4 && against > fits / 8; }
  };
  /// Streams of one (source, destination, VLANs).
  struct Direction {
    std::vector<int> started;    ///< that sent requests
    std::vector<int> answering;  ///< that answered some
  };
  struct Side {
    RequestTrack track;
    std::vector<Edge> edges;       ///< of its answers
    std::vector<int> answered_by;  ///< streams with an edge to this one, in resolve()
    size_t synced = 0;             ///< how many of the reversed direction's streams have an edge here
    uint64_t answers = 0;
    size_t next_edge = 0;                       ///< to weigh, when they are too many for every answer
    Seq lowest_answer = 0, highest_answer = 0;  ///< PSNs
    bool in_direction = false;
    bool credits = false;
    bool overflow = false;
    bool ended = false;
  };
  struct Candidate {
    int other = -1;
    int port_score = 0;
    uint64_t strong = 0, fits = 0;
    bool better_than(const Candidate& o) const;
  };
  /// Half of a handshake: whose QP `mad` names, and where it speaks to.
  struct CmEnd {
    CmMad mad;
    FlowKey key;
  };
  struct CmPair {
    CmEnd request, reply;
    uint64_t index = 0;  ///< of the REP
  };
  static constexpr size_t kMaxEdges = 1 << 20;
  /// So many first answers of a stream are weighed for all its candidates, later ones for these many in turn.
  static constexpr uint64_t kWeighedByAll = 256;
  static constexpr size_t kWeighedInTurn = 64;

  static FlowKey direction_key(const FlowKey& k, bool reversed);
  Side& side(int stream);
  void sync_edges(int stream);
  void weigh(Edge& e, const Frame& f);
  void weigh_message_count(Edge& e, const Frame& f, Seq seq, bool ack);
  void note_lives(Edge& e, Seq seq, bool positive_ack);
  void index_edges();
  const Edge* edge(int answers, int requests) const;
  int port_score(const TraceStream& a, const TraceStream& b) const;
  bool candidate(int a, int b, Candidate& out) const;
  int find_best(int a) const;
  void pair(int a, int b, const char* evidence);
  void finish_pair(TraceStream& requests, int answers);

  // trace_handshakes.cc
  void pair_by_cm();
  int life_after(const IpAddress& from, const IpAddress& to, Qpn to_qp, uint64_t index) const;

  // trace_certainty.cc
  const char* doubt(int a, int b);
  bool alone(int a, int b);
  bool all_visible(int a);
  bool named(int a, int b);
  bool stands_apart(int requests, int answers);

  std::vector<TraceStream>& streams_;
  std::vector<Side> sides_;
  std::vector<std::pair<FlowKey, Direction>> directions_;
  std::map<uint64_t, std::vector<int>> direction_index_;  ///< hash of a direction -> places in directions_
  std::map<uint32_t, CmEnd> cm_requests_;                 ///< by communication id
  std::set<std::pair<uint32_t, uint32_t>> cm_known_;      ///< communication ids of handshakes
  std::vector<CmPair> cm_pairs_;
  std::multimap<std::tuple<IpAddress, IpAddress, Qpn>, int> by_qp_;  ///< in resolve()
  size_t edges_ = 0;

  Direction& direction(const FlowKey& k);
};

}  // namespace matchrdma
