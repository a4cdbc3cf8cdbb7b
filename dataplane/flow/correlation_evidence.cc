// What the learner makes of an answer: which request streams it can be about, and whether that is proof.
#include <algorithm>

#include "dataplane/flow/correlation.h"
#include "dataplane/wire/source_port.h"

namespace matchrdma {
namespace {

constexpr uint32_t kEvidence = 8, kEvidenceAtBirth = 2;
constexpr Seq kOnItsWay = Seq{1} << 19;  // packets under way when watching begins: 100 Gb/s, 1000 km, 256 B
constexpr Seq kApart = 65536;            // PROTOCOL 3, 2b

// The port is the hash of both QPNs, the same both ways; or each NIC uses its own QPN as port.
bool port_names(uint16_t requests, uint16_t answers, Qpn requester, Qpn responder) {
  if (requests == answers && requests == hashed_source_port(requester, responder)) return true;
  return requests == (requester.v & 0xffff) && answers == (responder.v & 0xffff);
}

// Shortest way between a PSN and a range of them, on the circle of 2^24.
Seq distance(Seq psn, Seq lowest, Seq highest) {
  const Seq lo = unwrap24(static_cast<uint32_t>(lowest & Psn::kMask), psn);
  const Seq hi = lo + (highest - lowest);
  if (psn >= lo && psn <= hi) return 0;
  return psn < lo ? std::min(lo - psn, psn + (Seq{1} << 24) - hi)
                  : std::min(psn - hi, lo + (Seq{1} << 24) - psn);
}

}  // namespace

// An answer tells about every request stream whether it can be about it (PROTOCOL 3, 2a).
void Correlation::narrow(Answers& a, Hosts& h, Psn wire, Instant now, Duration rtt) const {
  for (size_t s = a.fits._Find_first(); s < kPerHostPair; s = a.fits._Find_next(s)) {
    const Requests& r = requests_[h.slots[s]];
    const Seq psn = unwrap24(wire.v, r.highest_end);
    const bool before_us = psn < r.lowest - kOnItsWay || (psn < r.lowest - 1 && r.born + kSettle + rtt < now);
    if (psn >= r.highest_end || before_us) a.fits.reset(s);
  }
  if (a.fits.none() && h.first_seen + kSettle + rtt < now) h.strange = now;
}

bool Correlation::named(const Requests& r, const Answers& a, const Hosts& h) const {
  return port_names(r.port, a.port, a.key.dst_qpn, r.key.dst_qpn) && !h.port_is_shared(r.port);
}

// The only request stream that fits; where ports name both QPNs of some, those alone remain (2c).
Correlation::Index Correlation::choose(const Answers& a, const Hosts& h) const {
  Index fits = kNoFlow, by_port = kNoFlow;
  bool two_fit = false;
  for (size_t s = a.fits._Find_first(); s < kPerHostPair; s = a.fits._Find_next(s)) {
    const Index i = h.slots[s];
    two_fit = two_fit || fits != kNoFlow;
    fits = i;
    if (!named(requests_[i], a, h)) continue;
    if (by_port != kNoFlow) return kNoFlow;
    by_port = i;
  }
  if (by_port != kNoFlow) return by_port;
  return two_fit ? kNoFlow : fits;
}

bool Correlation::only_one_for(const Requests& r, const Answers& a, const Hosts& h) const {
  const bool by_port = named(r, a, h);
  for (const Index i : h.answers) {
    const Answers& other = answers_[i];
    if (&other == &a || !other.fits.test(r.slot) || other.last <= r.born) continue;
    if (!by_port || named(r, other, h)) return false;
  }
  return true;
}

// 2b: an answer counts at the PSN of a packet that asked, with an MSN step equal to the messages between.
void Correlation::weigh(Answers& a, const Requests& r, const Frame& f, Instant now) {
  if (!f.info().aeth || (f.aeth_syndrome() & 0xe0) != kAethAck) return;
  const Seq psn = unwrap24(f.psn().v, r.highest_end);
  const Mark* found = r.find_mark(psn);
  if (found == nullptr || psn <= a.last_mark.psn) return;
  const Mark& m = *found;
  const uint32_t msn = f.aeth_msn().v;
  const bool first = a.last_mark.psn < 0;
  const bool step =
      !first && ((msn - a.last_msn) & Psn::kMask) == ((m.messages - a.last_mark.messages) & Psn::kMask);
  if (msn != (m.messages & Psn::kMask)) a.absolute = false;
  if (step || (first && a.absolute)) {
    if (a.evidence++ == 0) a.first_evidence = now;
  } else {
    a.evidence = 0;  // something was missed: from here anew
  }
  a.last_mark = m;
  a.last_msn = msn;
}

std::optional<Unpaired> Correlation::objection(const Answers& a, const Requests& r, Hosts& h, Instant now,
                                               Duration rtt) const {
  const bool by_port = r.one_port && a.one_port && named(r, a, h);
  const bool born = a.absolute && stands_apart(r, a);
  const bool enough = a.evidence >= kEvidence && a.first_evidence + rtt * 2 <= now;
  if (!(enough || (born && a.evidence >= kEvidenceAtBirth))) return Unpaired::kFewAcks;
  if (!by_port && !born) return Unpaired::kNoSecondFact;
  if (!only_one_for(r, a, h)) return Unpaired::kAmbiguous;
  if (!all_visible(h, now, rtt)) h.strange = now;
  if (h.strange >= r.born) return Unpaired::kHiddenFlows;
  return std::nullopt;
}

// 2b, second case: no other QP of these hosts, either way, was ever near.
bool Correlation::stands_apart(const Requests& r, const Answers& a) const {
  const Seq start = r.lowest;
  if ((start & Psn::kMask) <= kApart) return false;
  for (const bool reversed : {false, true}) {
    const Hosts* h = find_hosts(hosts_key(r.key, reversed));
    if (h == nullptr) continue;
    for (const Index i : h->slots) {
      if (i == kNoFlow || &requests_[i] == &r) continue;
      const Requests& other = requests_[i];
      if (reversed && other.key.dst_qpn == a.key.dst_qpn) continue;  // the same QP, the other way
      if (distance(start, other.lowest, other.highest_end) <= kApart) return false;
    }
    for (const Index i : h->answers) {
      const Answers& other = answers_[i];
      if (&other == &a || (reversed && other.key.dst_qpn == r.key.dst_qpn)) continue;
      if (distance(start, other.lowest, other.highest_end) <= kApart) return false;
    }
  }
  return true;
}

bool Correlation::answered(const Requests& r, const Hosts& h) const {
  return std::any_of(h.answers.begin(), h.answers.end(),
                     [&](Index i) { return answers_[i].fits.test(r.slot) && answers_[i].last >= r.asked; });
}

// 2d: every request stream has answers and every answer stream requests. Lock-step QPs all fit each other:
// there the numbers tell.
bool Correlation::all_visible(const Hosts& h, Instant now, Duration rtt) const {
  size_t waiting_long = 0;
  for (const Index i : h.slots) {
    if (i == kNoFlow) continue;
    const Requests& r = requests_[i];
    const bool late = !r.asked.is_never() && r.asked + kSettle + rtt < now;
    if (late && !answered(r, h)) return false;
    if (late) ++waiting_long;
  }
  const auto speaking = std::count_if(h.answers.begin(), h.answers.end(), [&](Index i) {
    const Answers& a = answers_[i];
    if (a.last + kSettle + rtt < now) return false;
    for (size_t s = a.fits._Find_first(); s < kPerHostPair; s = a.fits._Find_next(s)) {
      if (requests_[h.slots[s]].born < a.last) return true;
    }
    return false;
  });
  return h.answers.size() >= waiting_long && static_cast<uint32_t>(speaking) <= h.requests;
}

}  // namespace matchrdma
