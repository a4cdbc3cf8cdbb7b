#pragma once
// A whole proxy as one pure object: its Shard, its end of the subchannel and its estimator.
#include <optional>
#include <span>
#include <vector>

#include "controlplane/endpoint/sole_budgets.h"
#include "controlplane/endpoint/sole_channel.h"
#include "dataplane/shard/shard.h"

namespace matchrdma {

struct EndpointConfig {
  ShardConfig shard;
  std::optional<EstimatorSettings> estimator{};  ///< none: budgets are fixed
  uint64_t seed = 1;
};

/// Where what a ProxyEndpoint lets out goes, in order.
class EndpointSink {
 public:
  virtual void packet(OutItem& item) = 0;
  /// UDP payload for the peer. Of the data queue: in order with the packets for the WAN.
  virtual void datagram(Queue queue, Bytes udp_payload) = 0;

 protected:
  ~EndpointSink() = default;
};

/// Duty: joins the three as the daemon does with its threads: packets and datagrams in, packets and datagrams
/// out, time is an argument. One worker, one peer. Knows no wires.
///
/// Call contract: add what has come, then run(); `now` never goes back; run() at next_wakeup() at the latest.
class ProxyEndpoint {
 public:
  static constexpr size_t kBurst = 32;  ///< inputs of one run at most

  ProxyEndpoint(const EndpointConfig& config, PacketPool& pool, EndpointSink& sink, Instant now)
      : shard_(config.shard, pool),
        budgets_(config.estimator, config.shard.limits.max_groups),
        channel_(config.seed, now, [&sink](Queue q, Bytes d) { sink.datagram(q, d); }),
        sink_(sink) {}

  void add(Side side, PacketRef p) { burst_.push_back({side, std::move(p)}); }
  /// A datagram of the data queue speaks of the packets before it: run() must come before the next packet.
  void add_datagram(Bytes udp_payload, Instant now) { channel_.take(udp_payload, now, messages_); }
  size_t waiting() const { return burst_.size() + messages_.size(); }

  /// Takes what has been added. True when a slot was closed: budgets().why() is about it.
  bool run(Instant now) {
    out_.clear();
    shard_.run_once(burst_, messages_, now, out_);
    burst_.clear();
    messages_.clear();
    const bool closed = budgets_.run(shard_, now, out_);
    dispatch();
    return closed;
  }
  /// HELLOs that are due.
  void poll(Instant now) { channel_.poll(now); }
  bool due(Instant now) const { return waiting() > 0 || next_run() <= now; }
  /// Of run() alone, and of poll() too.
  Instant next_run() const { return earlier(shard_.next_wakeup(), budgets_.next_deadline()); }
  Instant next_wakeup() const { return earlier(next_run(), channel_.next_wakeup()); }

  Registered register_qp(const Registration& reg, bool local_a, Instant now) {
    out_.clear();
    const Registered r = shard_.register_qp(reg, local_a, now, out_);
    dispatch();
    return r;
  }

  const Shard& shard() const { return shard_; }
  const SoleBudgets& budgets() const { return budgets_; }
  bool up() const { return channel_.up(); }

 private:
  void dispatch() {
    for (OutItem& item : out_.items()) {
      if (!item.packet) {
        channel_.say(*item.message);
        continue;
      }
      if (item.side == Side::kWan) channel_.before_packet();
      sink_.packet(item);
    }
    channel_.flush();
    out_.clear();
  }

  Shard shard_;
  SoleBudgets budgets_;
  SoleChannel channel_;
  EndpointSink& sink_;
  std::vector<RxItem> burst_;
  std::vector<Message> messages_;
  Outbox out_{2 * kBurst};
};

}  // namespace matchrdma
