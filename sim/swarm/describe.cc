#include <cstdio>

#include "sim/swarm/options.h"

namespace matchrdma::swarm {

std::string describe(const Options& o) {
  char text[512];
  std::string out;
  std::snprintf(
      text, sizeof text,
      "seed %llu%s\n  span  delay %lld us loss %.4f dup %.4f reorder %.4f corrupt %.4f cuts %zu\n"
      "  ctrl  loss %.4f dup %.4f reorder %.4f corrupt %.4f\n  lan   loss %.4f dup %.4f reorder %.4f corrupt "
      "%.4f\n"
      "  budget %lld bit/s burst %llu  egress %lld  hard %llu  reorder memory %llu\n",
      static_cast<unsigned long long>(o.seed), o.transparent ? " transparent" : "",
      static_cast<long long>(o.wan.delay.ns / 1000), o.wan.loss, o.wan.duplicate, o.wan.reorder, o.wan.corrupt,
      o.wan.cuts.size(), o.control.loss, o.control.duplicate, o.control.reorder, o.control.corrupt, o.lan.loss,
      o.lan.duplicate, o.lan.reorder, o.lan.corrupt, static_cast<long long>(o.tuning.budget.bps),
      static_cast<unsigned long long>(o.tuning.budget_burst_bytes), static_cast<long long>(o.tuning.egress.bps),
      static_cast<unsigned long long>(o.limits.custody_hard_bytes),
      static_cast<unsigned long long>(o.limits.reorder_memory));
  out += text;
  if (!o.restart_at.is_never()) {
    std::snprintf(text, sizeof text, "  proxy B dies at %lld us, for %lld us\n",
                  static_cast<long long>(o.restart_at.ns / 1000),
                  static_cast<long long>(o.restart_for.ns / 1000));
    out += text;
  }
  if (!o.restart_a_at.is_never()) {
    std::snprintf(text, sizeof text, "  proxy A dies at %lld us, for %lld us\n",
                  static_cast<long long>(o.restart_a_at.ns / 1000),
                  static_cast<long long>(o.restart_a_for.ns / 1000));
    out += text;
  }
  if (o.hosts > 1 || o.hostile.packets > 0 || o.scarce || o.watchful) {
    std::snprintf(
        text, sizeof text, "  hosts %u a side  hostile packets %lld each %lld us%s%s  flows %u groups %u\n",
        o.hosts, static_cast<long long>(o.hostile.packets), static_cast<long long>(o.hostile.every.ns / 1000),
        o.scarce ? " scarce" : "", o.watchful ? " watchful" : "", o.limits.max_flows, o.limits.max_groups);
    out += text;
  }
  if (o.estimator) {
    std::snprintf(text, sizeof text,
                  "  estimator %s slot %lld us line %lld bit/s queue %llu  low egress %lld each %lld us\n",
                  o.estimator->scheme == Scheme::kPaper ? "paper" : "earned",
                  static_cast<long long>(o.estimator->slot.ns / 1000),
                  static_cast<long long>(o.estimator->line_rate.bps),
                  static_cast<unsigned long long>(o.estimator->queue_target),
                  static_cast<long long>(o.low_egress.bps), static_cast<long long>(o.wave.ns / 1000));
    out += text;
  }
  for (const PairOptions& p : o.pairs) {
    std::snprintf(text, sizeof text,
                  "  pair qpn %x/%x mtu %u start %x/%x %s join %d work %lld/%lld max %u%s%s credits %d rq "
                  "%lld/%lld fatal %x hosts %u/%u%s\n",
                  p.pair.qpn_a.v, p.pair.qpn_b.v, p.pair.path_mtu, p.pair.start_a.v, p.pair.start_b.v,
                  p.completion == Completion::kEarly ? "early" : "end-to-end", static_cast<int>(p.join),
                  static_cast<long long>(p.work_a), static_cast<long long>(p.work_b), p.max_length,
                  p.reads ? " reads" : "", p.atomics ? " atomics" : "", p.pair.requester_a.use_credits,
                  static_cast<long long>(p.pair.responder_a.receive_queue),
                  static_cast<long long>(p.pair.responder_b.receive_queue), p.fatal, p.host_a, p.host_b,
                  p.reset == Reset::kNone ? "" : (p.reset == Reset::kUnregister ? " reset" : " reset by name"));
    out += text;
  }
  return out;
}

}  // namespace matchrdma::swarm
