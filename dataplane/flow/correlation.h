#pragma once
// Learner 2 of PROTOCOL 3: which QPNs belong together, from requests and the answers that fit them. A wrong
// pair would lose data, so it pairs only what cannot be otherwise and says why it does not pair the rest (C6).
#include <algorithm>
#include <array>
#include <bitset>
#include <optional>
#include <vector>

#include "dataplane/base/time.h"
#include "dataplane/flow/flow_table.h"
#include "dataplane/flow/limits.h"
#include "dataplane/flow/message.h"

namespace matchrdma {

/// Why a flow is not paired (yet).
enum class Unpaired : uint8_t {
  kNoAnswers,     ///< no ACK was seen that fits
  kFewAcks,       ///< not enough evidence yet
  kAmbiguous,     ///< more than one QP fits
  kNoSecondFact,  ///< neither the port is the hash of both QPNs nor was it born here at a PSN of its own
  kHiddenFlows,   ///< not all flows between the two hosts are visible
};
const char* unpaired_text(Unpaired u);

/// Duty: the evidence. Does not know flows that are paired, and keeps no packet.
class Correlation {
 public:
  static constexpr size_t kPerHostPair = 256;  ///< request streams of one direction; beyond: nobody is paired
  using Fits = std::bitset<kPerHostPair>;

  explicit Correlation(const CorrelationLimits& limits);

  /// A request or an answer with right ICRC of an RC QP that nobody knows. `from_lan`: its sender is local. A
  /// pair names the local end first.
  void on_request(const FlowKey& key, const Frame& f, Instant now);
  std::optional<Registration> on_answer(const FlowKey& key, const Frame& f, bool from_lan, Instant now,
                                        Duration rtt);
  /// The pair is known (by whatever learner): its streams are no candidates any more.
  void forget(const Registration& pair);
  /// C10: requests of the flow to `responder` and answers to `requester` passed here within the last second.
  bool on_path(const FlowKey& requests, const FlowKey& answers, Instant now) const;

  struct Report {
    FlowKey key;
    Unpaired why;
  };
  /// Every watched request stream, in the order of birth.
  std::vector<Report> report() const;

 private:
  using Index = FlowIndex;
  struct Mark {
    Seq psn = -1;
    uint32_t messages = 0;
    uint32_t at_ms = 0;  ///< when it passed; wraps
  };
  struct Stream {
    FlowKey key;
    uint32_t hosts = 0;
    Instant last;
    Seq lowest = 0, highest_end = 0;
    uint16_t port = 0;
    bool one_port = true;
  };
  struct Requests : Stream {
    static constexpr size_t kMarks = 64;
    Instant born;
    uint32_t slot = 0;
    uint32_t messages = 0;  ///< complete ones since its birth
    uint32_t path_mtu = 0;
    Instant asked = Instant::never();  ///< first packet that wants an answer
    /// Packets with AckReq or at the end of a message, in their order. One stays until its answer has had time
    /// to cross the span twice, whatever comes behind it: a sender may have thousands under way.
    std::array<Mark, kMarks> marks{};
    uint64_t marked = 0;  ///< marks ever kept; the newest kMarks are there
    void mark(Seq psn, Instant now);
    const Mark* find_mark(Seq psn) const;
  };
  struct Answers : Stream {
    Fits fits;
    Index candidate = kNoFlow;
    uint32_t evidence = 0;
    bool absolute = true;  ///< every MSN equalled the messages seen since the candidate's birth
    Instant first_evidence;
    Mark last_mark;
    uint32_t last_msn = 0;
    bool credits = false;
    Unpaired why = Unpaired::kFewAcks;  ///< what still speaks against the candidate
  };
  /// All that is watched in one direction between two hosts.
  struct Hosts {
    Instant first_seen;
    Instant strange{-1};  ///< newest sign of a flow of which only one half is visible, or that found no room
    std::array<Index, kPerHostPair> slots{};  ///< request streams
    /// Ports that more than one QP has used: no hash of theirs. Full: no port is believed.
    std::array<uint16_t, 16> shared_ports{};
    size_t shared = 0;
    bool port_is_shared(uint16_t port) const {
      const auto end = shared_ports.begin() + static_cast<std::ptrdiff_t>(shared);
      return shared == shared_ports.size() || std::find(shared_ports.begin(), end, port) != end;
    }
    uint32_t requests = 0;
    std::vector<Index> answers;
  };

  static constexpr Duration kSettle = Duration::seconds(1);  ///< what is on its way when watching starts
  /// All flows from one host to another; `reversed`: from the other to the one.
  static FlowKey hosts_key(const FlowKey& k, bool reversed);
  Index hosts_of(const FlowKey& key, Instant now);
  const Hosts* find_hosts(const FlowKey& key) const;
  Requests* request_stream(const FlowKey& key, const Frame& f, Instant now);
  Answers* answer_stream(const FlowKey& key, const Frame& f, Instant now);
  void note_port(Hosts& h, uint16_t port);
  bool named(const Requests& r, const Answers& a, const Hosts& h) const;
  void sweep(Instant now);
  void drop_requests(Index i);
  void drop_answers(Index i);
  static void count_request(Requests& r, const Frame& f, Instant now);
  void narrow(Answers& a, Hosts& h, Psn psn, Instant now, Duration rtt) const;
  Index choose(const Answers& a, const Hosts& h) const;
  bool only_one_for(const Requests& r, const Answers& a, const Hosts& h) const;
  static void weigh(Answers& a, const Requests& r, const Frame& f, Instant now);
  std::optional<Unpaired> objection(const Answers& a, const Requests& r, Hosts& h, Instant now,
                                    Duration rtt) const;
  bool stands_apart(const Requests& r, const Answers& a) const;
  bool all_visible(const Hosts& h, Instant now, Duration rtt) const;
  bool answered(const Requests& r, const Hosts& h) const;

  CorrelationLimits limits_;
  FlowTable request_table_, answer_table_, hosts_table_;
  std::vector<Requests> requests_;
  std::vector<Answers> answers_;
  std::vector<Hosts> hosts_;
  Instant next_sweep_;
};

}  // namespace matchrdma
