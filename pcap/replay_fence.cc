#include "pcap/replay_fence.h"

#include <algorithm>

#include "pcap/replay_causality.h"

namespace matchrdma {

ReplayFence::ReplayFence(const TraceFlows& flows) : flows_(flows), open_(flows.streams().size()) {}

void ReplayFence::requested(const PacketView& v, Seq seq) {
  std::vector<Open>& open = open_[static_cast<size_t>(v.stream)];
  const Seq end = seq + read_psns(v.frame(), flows_.streams()[static_cast<size_t>(v.stream)].path_mtu);
  for (Open& o : open)
    if (seq >= o.begin && seq < o.end) {
      o.next = seq;  // asked again: its responses come from there
      return;
    }
  const auto behind = std::find_if(open.begin(), open.end(), [&](const Open& o) { return o.begin > seq; });
  open.insert(behind, {seq, end, seq});
}

void ReplayFence::answered(const PacketView& v) {
  const int stream = flows_.streams()[static_cast<size_t>(v.stream)].partner;
  if (stream < 0) return;
  std::vector<Open>& open = open_[static_cast<size_t>(stream)];
  if (open.empty()) return;
  const Seq psn = unwrap24(v.frame().psn().v, open.front().begin);
  for (size_t i = 0; i < open.size(); ++i) {
    Open& o = open[i];
    if (psn != o.next) continue;
    if (++o.next >= o.end) open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
    return;
  }
}

std::optional<Seq> ReplayFence::first_unanswered(int request_stream) const {
  const std::vector<Open>& open = open_[static_cast<size_t>(request_stream)];
  if (open.empty()) return std::nullopt;
  return open.front().begin;
}

}  // namespace matchrdma
