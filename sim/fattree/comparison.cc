#include "sim/fattree/comparison.h"

#include <memory>

#include "sim/fattree/single_path_load.h"

namespace matchrdma::sim {
namespace {

constexpr SimSpan kStep = SimSpan::micros(20);

AllToAllSettings traffic(const FatTreeCase& c) {
  return {.sizes = c.sizes,
          .hosts = c.tree.hosts(),
          .load = c.load,
          .line = c.tree.link.rate,
          .duration = c.duration,
          .seed = c.seed};
}

std::unique_ptr<TransferLoad> load_of(const FatTreeCase& c, Network& network, std::vector<Arrival> arrivals) {
  if (c.scheme == Balancing::kFlowcell)
    return std::make_unique<FlowcellLoad>(network, std::move(arrivals), c.flowcell, c.sender, c.receiver);
  return std::make_unique<SinglePathLoad>(network, std::move(arrivals), c.sender, c.receiver);
}

/// Completion times of both ends.
struct Ends {
  CompletionSamples sender, receiver;
  size_t unfinished = 0;

  void add(const Transfer& t, const IdealPath& ideal) {
    if (t.delivered.is_never() || t.confirmed.is_never()) {
      ++unfinished;
      return;
    }
    sender.add(t.confirmed - t.posted, ideal.at_sender(t.source, t.destination, t.bytes));
    receiver.add(t.delivered - t.posted, ideal.at_receiver(t.source, t.destination, t.bytes));
  }
  Fct fct() { return {sender.completions(), receiver.completions(), unfinished}; }
};

void count(const FatTreeCase& c, FatTree& tree, const TransferLoad& load, FatTreeResult& r) {
  const IdealPath ideal{tree.network(), c.tree.link.rate, c.sender.mtu};
  Ends all, small, large;
  for (const Transfer& t : load.transfers()) {
    if (t.posted - SimTime{} < c.warm_up) continue;
    all.add(t, ideal);
    (t.bytes <= kSmallBytes ? small : large).add(t, ideal);
  }
  r.all = all.fct();
  r.small = small.fct();
  r.large = large.fct();
  for (uint32_t s = 0; s < tree.network().switches(); ++s) {
    const SwitchStats& stats = tree.network().switch_node(s).stats();
    r.drops += stats.drops;
    r.pauses += stats.pauses;
    r.marks += stats.marks;
  }
  r.lost = tree.network().lost_frames();
  r.events = tree.network().events().executed();
  r.sent_again = load.sent_again();
}

}  // namespace

const char* balancing_name(Balancing b) {
  switch (b) {
    case Balancing::kEcmp:
      return "ecmp";
    case Balancing::kLetFlow:
      return "letflow";
    case Balancing::kFlowcell:
      return "flowcell";
  }
  return "";
}

SenderSettings FatTreeCase::fat_tree_sender() {
  SenderSettings s;
  s.mtu = 4096;
  s.reaction = ReactionSettings::hpcc();
  s.reaction->additive_increase = 40e6;
  s.reaction->hyper_increase = 100e6;
  s.reaction->least_rate = 100e6;
  return s;
}

ReceiverSettings FatTreeCase::fat_tree_receiver() {
  ReceiverSettings r;
  r.ack_interval = r.ack_chunk = 16 * 1024;
  return r;
}

double expected_transfers(const FatTreeCase& c) { return mean_arrivals(traffic(c)); }

FatTreeResult run_fat_tree(const FatTreeCase& c, const std::function<void(size_t)>& progress) {
  FatTreeSettings settings = c.tree;
  settings.seed = c.seed;
  if (c.scheme == Balancing::kLetFlow) settings.flowlet_gap = c.flowlet_gap;
  FatTree tree(settings);
  Network& network = tree.network();
  const auto load = load_of(c, network, draw_all_to_all(traffic(c)));
  load->start();
  const SimTime end = network.now() + c.duration + c.drain;
  while (!load->done() && network.now() < end) {
    network.events().run_until(network.now() + kStep);
    if (progress) progress(load->transfers().size());
  }
  FatTreeResult r;
  count(c, tree, *load, r);
  if (const auto* f = dynamic_cast<const FlowcellLoad*>(load.get())) r.suspected = f->suspected();
  return r;
}

}  // namespace matchrdma::sim
