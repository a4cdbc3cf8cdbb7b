#include "sim/workload/aicb_workload.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "dataplane/base/check.h"

namespace matchrdma::sim {
namespace {

/// Duty: one rank's iteration as steps. Times and bytes are divided by k here and nowhere else.
class Program {
 public:
  Program(const AicbModel& model, const AicbSettings& s, uint32_t rank, uint32_t ranks)
      : model_(model), s_(s), staged_(model.pipeline_stages > 1 && model.hand_over_bytes > 0), rank_(rank) {
    // With pipeline stages the gradients of a layer are summed in its stage only.
    group_ = staged_ ? ranks / 2 : ranks;
    first_stage_ = rank < ranks / 2;
    peer_ = first_stage_ ? rank + ranks / 2 : rank - ranks / 2;
  }

  std::vector<Step> iteration() {
    if (staged_ && !first_stage_) receive();  // activations
    for (const AicbLayer& l : model_.layers) phase(l.forward, false);
    if (staged_ && first_stage_) {
      hand_over();
      receive();  // their gradients
    }
    for (auto l = model_.layers.rbegin(); l != model_.layers.rend(); ++l) {
      phase(l->input_gradient, false);
      phase(l->weight_gradient, true);
    }
    if (staged_ && !first_stage_) hand_over();
    for (const AicbLayer& l : model_.layers) compute(l.update_ns);
    flush();
    return std::move(steps_);
  }

 private:
  int64_t scaled(int64_t bytes) const { return std::max<int64_t>(bytes / s_.scale, 1); }
  void compute(int64_t ns) { computed_.ps += ns * 1000 / s_.scale; }
  void hand_over() {
    flush();
    steps_.push_back({.sends = {{peer_, scaled(model_.hand_over_bytes)}}});
  }
  void receive() {
    flush();
    steps_.push_back({.receives = {peer_}});
  }
  void phase(const AicbPhase& p, bool weights) {
    compute(p.compute_ns);
    // Ranks that share a layer exchange activations and their gradients; with weights and experts it is the
    // others' turn.
    const bool local =
        !weights && !p.experts && p.collective != Collective::kAllToAll && model_.tensor_parallel > 1;
    if (local || p.collective == Collective::kNone) return;
    flush();
    const size_t from = steps_.size();
    const uint32_t base = rank_ - rank_ % group_;
    append_collective(p.collective, s_.pattern, scaled(p.bytes), rank_ - base, group_, steps_);
    for (size_t i = from; i < steps_.size(); ++i) {
      for (Step::Send& send : steps_[i].sends) send.rank += base;
      for (uint32_t& r : steps_[i].receives) r += base;
    }
  }
  // What was computed since the last message is one step.
  void flush() {
    if (computed_.ps > 0) steps_.push_back({.compute = computed_});
    computed_ = {};
  }

  const AicbModel& model_;
  const AicbSettings& s_;
  bool staged_, first_stage_ = false;
  uint32_t rank_, group_ = 0, peer_ = 0;  ///< peer: the same place in the other stage
  SimSpan computed_{};
  std::vector<Step> steps_;
};

SimSpan jittered(SimSpan t, double j, Prng& prng) {
  if (j == 0) return t;
  return {static_cast<int64_t>(static_cast<double>(t.ps) * (1 - j + 2 * j * prng.unit()))};
}

}  // namespace

AicbWorkload::AicbWorkload(Network& network, const AicbModel& model, const AicbSettings& settings,
                           std::vector<uint32_t> hosts)
    : Workload(network), s_(settings), hosts_(std::move(hosts)) {
  const auto ranks = static_cast<uint32_t>(hosts_.size());
  MRDMA_CHECK(ranks >= 2 && ranks % 2 == 0 && s_.scale >= 1);
  // Every rank draws from its own numbers: what it computes does not depend on who came first.
  Prng seeds(s_.seed);
  for (uint32_t r = 0; r < ranks; ++r) {
    Rank& rank = ranks_.emplace_back();
    rank.program = Program(model, s_, r, ranks).iteration();
    MRDMA_CHECK(!rank.program.empty());
    for (const Step& step : rank.program)
      for (const Step::Send& send : step.sends)  // SimPacket::message
        MRDMA_CHECK(send.bytes <= std::numeric_limits<uint32_t>::max());
    rank.flow_to.assign(ranks, kNoFlow);
    rank.arrived.assign(ranks, 0);
    rank.prng = Prng(seeds.next());
  }
}

void AicbWorkload::open(const Open& open) {
  for (uint32_t r = 0; r < ranks_.size(); ++r) {
    for (const Step& step : ranks_[r].program) {
      for (const Step::Send& send : step.sends) {
        uint32_t& flow = ranks_[r].flow_to[send.rank];
        if (flow != kNoFlow) continue;
        flow = add(open(hosts_[r], hosts_[send.rank]));
        ends_of_flow_.push_back({r, send.rank});
      }
    }
  }
}

void AicbWorkload::start() {
  started_ = network().now();
  for (uint32_t r = 0; r < ranks_.size(); ++r) {
    begin(r);
    advance(r);
  }
}

bool AicbWorkload::done() const {
  return s_.iterations != 0 && ends_.size() == s_.iterations && outstanding() == 0;
}

std::vector<SimSpan> AicbWorkload::iteration_times() const {
  std::vector<SimSpan> times;
  SimTime before = started_;
  for (const SimTime end : ends_) {
    times.push_back(end - before);
    before = end;
  }
  return times;
}

void AicbWorkload::begin(uint32_t r) {
  Rank& rank = ranks_[r];
  rank.posted = false;
  const Step& step = rank.program[rank.step];
  if (step.compute.ps == 0) return;
  rank.computing = true;
  network().events().schedule(network().now() + jittered(step.compute, s_.jitter, rank.prng), *this, r);
}

// As far as the rank comes without waiting.
void AicbWorkload::advance(uint32_t r) {
  Rank& rank = ranks_[r];
  while (runs(rank) && !rank.computing) {
    const Step& step = rank.program[rank.step];
    if (!rank.posted) {
      rank.posted = true;
      for (const Step::Send& send : step.sends) {
        ++rank.unacknowledged;
        post(rank.flow_to[send.rank], send.bytes);
      }
    }
    if (!step_is_over(rank, step)) return;
    if (++rank.step == rank.program.size()) {
      rank.step = 0;
      iteration_over(rank);
      if (!runs(rank)) return;
    }
    begin(r);
  }
}

bool AicbWorkload::step_is_over(Rank& rank, const Step& step) {
  if (step.settles && rank.unacknowledged > 0) return false;
  for (const uint32_t from : step.receives)
    if (rank.arrived[from] == 0) return false;
  for (const uint32_t from : step.receives) --rank.arrived[from];
  return true;
}

void AicbWorkload::iteration_over(Rank& rank) {
  const size_t i = rank.iterations++;
  ranks_done_.resize(std::max(ranks_done_.size(), i + 1));
  if (++ranks_done_[i] == ranks_.size()) ends_.push_back(network().now());
}

void AicbWorkload::on_event(SimTime, uint64_t rank) {
  ranks_[rank].computing = false;
  advance(static_cast<uint32_t>(rank));
}

void AicbWorkload::message_acknowledged(size_t message, SimTime) {
  const uint32_t r = ends_of_flow_[messages()[message].flow].source;
  --ranks_[r].unacknowledged;
  advance(r);
}

void AicbWorkload::message_delivered(size_t message, SimTime) {
  const Ends& e = ends_of_flow_[messages()[message].flow];
  ++ranks_[e.destination].arrived[e.source];
  advance(e.destination);
}

}  // namespace matchrdma::sim
