#pragma once
// Two proxies, a span between them and the hosts of a capture, in virtual time.
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "controlplane/endpoint/endpoint.h"
#include "pcap/capture_writer.h"
#include "pcap/replay_budgets.h"
#include "pcap/replay_checks.h"
#include "pcap/replay_feed.h"
#include "pcap/replay_latency.h"
#include "pcap/replay_lives.h"
#include "pcap/replay_options.h"
#include "pcap/replay_wan.h"

namespace matchrdma {

/// Duty: the event loop. Everything that has a meaning (causes, checks, latency, faults) is another's.
class ReplayWorld {
 public:
  ReplayWorld(const ReplayOptions& options, const TraceFlows& flows, CaptureReader reader);
  Result<void> open_outputs();
  /// Until the capture has been fed and the proxies are done with it.
  Result<void> run();
  /// Once: it hands out what was kept.
  void report(ReplayResult& r);
  void report_learned(ReplayResult& r) const;
  void warn(ReplayResult& r) const;

 private:
  /// One proxy, and the time of what it was given last.
  struct Node final : EndpointSink {
    Node(ReplayWorld& of, Site at, const EndpointConfig& config, PacketPool& pool)
        : world(of), site(at), proxy(config, pool, *this, Instant{}) {}
    void packet(OutItem& item) override;
    void datagram(Queue queue, Bytes udp_payload) override;
    ReplayWorld& world;
    Site site;
    ProxyEndpoint proxy;
    Instant now{};
  };
  /// Packets this close together share a burst, as they would on a polling core.
  static constexpr Duration kBatch = Duration::micros(1);

  std::unique_ptr<Node> make_node(Site site);
  template <typename Done>
  Result<void> wait_for(Done done, const std::string& complaint);
  Result<void> join();
  Result<void> register_flows();
  Result<void> wait_registered(const std::vector<Registration>& all);
  Instant next_event() const;
  void step(Instant t);
  void gather(Site site, Instant t);
  void take_host_packet(Site site, Instant t);
  void remember_life(int stream);
  bool take_wan_item(Site site, WanQueue& queue);
  static void prefetch(const WanQueue& queue);
  void run_node(Site site);
  void to_lan(Site site, OutItem& item);
  void to_wan(Site site, PacketRef p);
  void write(std::unique_ptr<CaptureWriter>& writer, const PacketRef& p, Instant now);
  bool quiet() const;
  bool finished() const;
  void unblock_if_stuck(Instant& t);

  const ReplayOptions& options_;
  const TraceFlows& flows_;
  model::PacketArena pool_;
  ReplayLives lives_;
  Causality causality_;
  ReplayHosts hosts_;
  ReplayFeed feed_;
  ReplayChecks checks_;
  ReplayLatency latency_;
  ReplayWan wan_;
  ReplayBudgets budgets_;
  std::array<std::unique_ptr<Node>, 2> nodes_;
  std::array<std::unique_ptr<CaptureWriter>, 2> lan_writers_;
  std::unique_ptr<CaptureWriter> wan_writer_;
  std::string write_error_;
  std::map<int, ReplayResult::Learned> ended_;  ///< what was known of lives that are over, by stream
  std::vector<std::string> refused_;            ///< pairs that proxy A would not register, and why
  Instant now_{}, first_entry_{}, last_progress_{};
  uint64_t fed_ = 0;
};

}  // namespace matchrdma
