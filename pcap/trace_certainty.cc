// Which pairs are beyond doubt: the same rules as those of the proxies' own learner (PROTOCOL 3, 2; C6), with
// the whole capture in view.
#include <algorithm>

#include "dataplane/wire/source_port.h"
#include "pcap/trace_pairing.h"

namespace matchrdma {
namespace {

constexpr uint32_t kEvidence = 8, kEvidenceAtBirth = 2, kEvidenceAlone = 4;
constexpr uint64_t kAsks = 8;  ///< so many messages do not stay without any answer
constexpr Seq kApart = 65536;

// Shortest way between two ranges of PSNs on the circle of 2^24.
Seq distance(Seq low, Seq high, Seq other_low, Seq other_high) {
  constexpr Seq kCircle = Seq{1} << 24;
  const Seq at = unwrap24(static_cast<uint32_t>(other_low & Psn::kMask), low);
  const Seq end = at + (other_high - other_low);
  if (at <= high && end >= low) return 0;
  return at > high ? std::min(at - high, low + kCircle - end) : std::min(low - end, at + kCircle - high);
}

}  // namespace

/// Why the likeliest pair may be a wrong one; nothing: it cannot.
const char* TracePairing::doubt(int a, int b) {
  uint32_t strong = 0, fits = 0, against = 0;
  for (const Edge* e : {edge(b, a), edge(a, b)}) {
    if (e == nullptr) continue;
    strong += e->strong;
    fits += e->fits;
    against += e->against;
  }
  if (side(a).overflow || side(b).overflow) return "too many queue pairs to tell apart";
  if (against > fits / 64) return "some answers do not fit";
  const bool only_pair = alone(a, b), apart = stands_apart(a, b) || stands_apart(b, a);
  if (strong < (apart ? kEvidenceAtBirth : only_pair ? kEvidenceAlone : kEvidence))
    return "too few answers to be sure";
  if (only_pair) return nullptr;
  if (!all_visible(a)) return "not all flows between these hosts are visible";
  if (named(a, b) || apart) return nullptr;
  return "only PSNs and message counts fit: not sure";
}

/// No other queue pair was ever seen between the two hosts.
bool TracePairing::alone(int a, int b) {
  const auto only = [this](int stream) {
    const Direction& d = direction(direction_key(streams_[static_cast<size_t>(stream)].key, false));
    const auto other = [stream](int i) { return i != stream; };
    return std::none_of(d.started.begin(), d.started.end(), other) &&
           std::none_of(d.answering.begin(), d.answering.end(), other);
  };
  return only(a) && only(b);
}

/// PROTOCOL 3, 2d: every request stream between the two hosts has its answers, and every answer stream
/// requests.
bool TracePairing::all_visible(int a) {
  const FlowKey& key = streams_[static_cast<size_t>(a)].key;
  for (const bool reversed : {false, true}) {
    const std::vector<int>& requests = direction(direction_key(key, reversed)).started;
    const size_t answering = direction(direction_key(key, !reversed)).answering.size();
    const auto asking = static_cast<size_t>(std::count_if(requests.begin(), requests.end(), [this](int i) {
      return streams_[static_cast<size_t>(i)].messages >= kAsks;
    }));
    if (answering < asking || answering > requests.size()) return false;
  }
  return true;
}

/// PROTOCOL 3, 2c: the ports are derived from both QPNs, and no other stream has them.
bool TracePairing::named(int a, int b) {
  constexpr int kDerived = 3;
  const auto at = [this](int i) -> const TraceStream& { return streams_[static_cast<size_t>(i)]; };
  if (!at(a).one_port || !at(b).one_port || port_score(at(a), at(b)) != kDerived) return false;
  const auto port = [&](int i) { return at(i).request_port ? at(i).request_port : at(i).answer_port; };
  const bool hashed = port(a) == port(b);
  for (const auto& [own, other] : {std::pair{a, b}, std::pair{b, a}}) {
    const Direction& d = direction(direction_key(at(own).key, false));
    for (const std::vector<int>* streams : {&d.started, &d.answering})
      for (const int i : *streams) {
        if (i == own) continue;
        if (port_score(at(i), at(other)) == kDerived || (hashed && port(i) == port(own))) return false;
      }
  }
  return true;
}

/// PROTOCOL 3, 2b: born in the capture at a PSN that no other queue pair of these hosts ever was near to.
bool TracePairing::stands_apart(int requests, int answers) {
  const TraceStream& r = streams_[static_cast<size_t>(requests)];
  const Edge* e = edge(answers, requests);
  if (e == nullptr || !e->msn_known || e->msn_offset != 0 || (r.first & Psn::kMask) <= kApart) return false;
  const auto near = [&](Seq low, Seq high) { return distance(r.first, r.first, low, high) <= kApart; };
  for (const bool reversed : {false, true}) {
    const Direction& d = direction(direction_key(r.key, reversed));
    for (const int i : d.started) {
      const TraceStream& s = streams_[static_cast<size_t>(i)];
      if (i != requests && i != answers && near(s.first, std::max(s.end, s.reach))) return false;
    }
    for (const int i : d.answering)
      if (i != requests && i != answers && near(side(i).lowest_answer, side(i).highest_answer)) return false;
  }
  return true;
}

}  // namespace matchrdma
