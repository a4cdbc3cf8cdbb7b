#pragma once
// Looks at everything that leaves a proxy and checks the invariants of PROTOCOL 9 that the hosts cannot see.
// Keeps its own books from the packets alone: it includes nothing of the source or destination rooms.
#include <map>
#include <set>
#include <string>

#include "dataplane/flow/flow_key.h"
#include "dataplane/flow/outbox.h"
#include "sim/swarm/options.h"

namespace matchrdma::swarm {

/// One proxy seen from outside.
class Watch {
 public:
  Watch(const Options& o, std::string name) : options_(o), name_(std::move(name)) {}

  /// A packet enters from the LAN (before the proxy sees it).
  /// `learned`: the proxy knows the flow; what was asked before that it cannot fence.
  void enters_lan(Bytes frame, bool learned);
  /// A packet of ours or a forwarded one leaves to the LAN or to the span.
  void leaves(const OutItem& item, Instant now);
  /// Pairs: answers of `key` (towards the sender) belong to requests of `flow`.
  void pair(const FlowKey& answers, const FlowKey& flow, uint32_t path_mtu) {
    pairs_[hash(answers)] = {flow, path_mtu};
  }
  /// Whether the sender itself still waits for the READ-class request at a PSN: responses that the span put out
  /// of order may be in order again at the sender, which only the sender knows.
  using Waits = std::function<bool(const FlowKey& flow, Psn psn)>;
  void set_waits(Waits w) { waits_ = std::move(w); }
  /// The proxy begins a new life: it knows nothing of what was asked of it before.
  void restarted();
  /// The flow's QP begins a new life: other PSNs.
  void forget(const FlowKey& flow) { flows_.erase(hash(flow)); }
  const std::string& complaint() const { return complaint_; }

 private:
  struct Flow {
    Seq highest = -1;               ///< highest request PSN seen from the LAN
    std::set<uint32_t> entered;     ///< request PSNs (24 bit) with right ICRC
    std::map<Seq, Seq> unanswered;  ///< READ-class: begin -> end, as first seen
    std::map<Seq, Seq> next;        ///< begin -> next expected response
  };
  struct Pair {
    FlowKey flow;
    uint32_t mtu = 0;
  };
  static uint64_t hash(const FlowKey& k) { return k.hash(); }
  void complain(const std::string& what, Instant now);
  void check_pseudo(const Frame& f, Instant now);
  void note_response(const Frame& f);
  void charge(const Frame& f, uint32_t bytes, Instant now);

  Waits waits_;
  const Options& options_;
  std::string name_, complaint_;
  std::map<uint64_t, Flow> flows_;
  std::map<uint64_t, Pair> pairs_;
  struct Bucket {
    double level = 0;
    Instant at;
  };
  std::map<uint64_t, Bucket> groups_;
};

}  // namespace matchrdma::swarm
