#include "pcap/replay_lives.h"

namespace matchrdma {

ReplayLives::ReplayLives(const TraceFlows& flows)
    : flows_(flows), first_(flows.streams().size()), living_(flows.streams().size()) {
  for (size_t i = 0; i < first_.size(); ++i) {
    // Lives are numbered in the order of the file: the one before is known already.
    const int before = flows.streams()[i].previous_life;
    first_[i] = before < 0 ? static_cast<int>(i) : first_life(before);
    living_[i] = static_cast<int>(i);
  }
}

void ReplayLives::live(int stream, std::vector<int>& over) {
  int& now = living_[static_cast<size_t>(first_life(stream))];
  if (stream <= now) return;
  over.push_back(now);
  now = stream;
}

// A QP and its partner begin together.
std::vector<int> ReplayLives::entered(int stream) {
  std::vector<int> over;
  if (stream < 0 || !flows_.streams()[static_cast<size_t>(stream)].reused) return over;
  live(stream, over);
  const int partner = flows_.streams()[static_cast<size_t>(stream)].partner;
  if (partner >= 0) live(partner, over);
  return over;
}

int ReplayLives::living(const FlowKey& key) const {
  const int newest = flows_.stream_of(key);
  return newest < 0 ? -1 : living_[static_cast<size_t>(first_life(newest))];
}

PacketView ReplayLives::view(const Packet& p) const {
  PacketView v = PacketView::of(p.bytes(), flows_);
  if (v.stream < 0) return v;
  v.stream = p.tag != 0 ? static_cast<int>(p.tag) - 1 : living_[static_cast<size_t>(first_life(v.stream))];
  return v;
}

}  // namespace matchrdma
