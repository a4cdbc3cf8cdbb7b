#pragma once
// The network of the paper's figure 3 with one scheme at the ends of its long link.
#include <cstdint>
#include <memory>
#include <vector>

#include "model/packet_arena.h"
#include "sim/evaluation/settings.h"
#include "sim/network.h"
#include "sim/schemes/proxy_border.h"

namespace matchrdma::sim {

/// Which nodes a figure speaks of.
enum class Layer : uint8_t { kHost, kLeaf, kSpine, kOtn };
inline constexpr size_t kLayers = 4;
/// As files call them.
inline constexpr const char* kLayerNames[kLayers]{"hosts", "leaves", "spines", "otn"};

/// Duty: builds the network and its scheme, opens QPs as the scheme needs them. Hosts 0 to hosts_per_site() - 1
/// stand at site A, the others at site B. Does not know workloads.
class World {
 public:
  explicit World(const WorldSettings& settings);
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World();

  /// A QP with the scheme's behaviour at both ends. Between the sites MatchRDMA is told of it (registration).
  Flow open(uint32_t source, uint32_t destination);
  /// Runs until the proxies have their session and all registrations are answered. At once where nothing has to
  /// be waited for. False: they were not within a second and 40 one-way delays.
  bool settle();

  Network& network() { return network_; }
  const WorldSettings& settings() const { return s_; }
  bool at_site_a(uint32_t host) const { return host < s_.topology.hosts_per_site(); }
  bool between_sites(const Flow& f) const { return at_site_a(f.source) != at_site_a(f.destination); }
  SwitchNode& otn(bool site_a) { return network_.switch_node(otn_[site_a ? 0 : 1]); }
  /// All switches of the site, its OTN node too.
  Occupancy& site(bool site_a) { return sites_[site_a ? 0 : 1]; }
  /// nullptr where the scheme has none.
  const ProxyBorder* proxy(bool site_a) const { return proxies_[site_a ? 0 : 1].get(); }
  /// Switches of a layer, both sites.
  const std::vector<uint32_t>& switches(Layer layer) const { return layers_[static_cast<size_t>(layer)]; }

 private:
  struct Asked {
    Registration what;
    bool source_at_a;
  };
  void add_site(bool a);
  void join_sites();
  EcnSettings ecn(Rate port) const;
  void set_ends();
  EndpointConfig endpoint_config(uint32_t number) const;

  WorldSettings s_;
  model::PacketArena arena_;  ///< outlives every packet
  Network network_;
  SenderSettings sender_;
  ReceiverSettings receiver_;
  uint32_t otn_[2] = {};
  std::vector<uint32_t> layers_[kLayers];
  Occupancy sites_[2];
  std::unique_ptr<ProxyBorder> proxies_[2];
  std::vector<std::unique_ptr<Border>> borders_;
  std::vector<Asked> registrations_;
};

}  // namespace matchrdma::sim
