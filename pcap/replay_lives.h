#pragma once
// Which life of its QP a packet belongs to that leaves a proxy.
#include <vector>

#include "pcap/packet_view.h"

namespace matchrdma {

/// Duty: packets of the capture carry their stream with them; what a proxy made speaks to the life whose
/// packets entered last.
class ReplayLives {
 public:
  explicit ReplayLives(const TraceFlows& flows);

  static void mark(Packet& p, int stream) { p.tag = static_cast<uint64_t>(stream + 1); }
  /// A packet of `stream` enters. The streams whose QP lives anew from now on, by what they were before.
  std::vector<int> entered(int stream);
  PacketView view(const Packet& p) const;
  /// The life of a key that the packets are in now.
  int living(const FlowKey& key) const;

 private:
  int first_life(int stream) const { return first_[static_cast<size_t>(stream)]; }
  void live(int stream, std::vector<int>& over);

  const TraceFlows& flows_;
  std::vector<int> first_;   ///< per stream: the first life of its key
  std::vector<int> living_;  ///< per first life: the newest that a packet entered of
};

}  // namespace matchrdma
