#include "dataplane/flow/correlation.h"

#include <algorithm>

#include "dataplane/flow/role_ctx.h"

namespace matchrdma {
namespace {

constexpr Seq kStart = Seq{1} << 32;   // PSNs are unwrapped well above zero
constexpr Seq kReborn = Seq{1} << 20;  // a jump of more is another life of the QP

}  // namespace

const char* unpaired_text(Unpaired u) {
  switch (u) {
    case Unpaired::kNoAnswers:
      return "no answer seen that fits its requests";
    case Unpaired::kFewAcks:
      return "too few answers to be sure";
    case Unpaired::kAmbiguous:
      return "more than one QP fits";
    case Unpaired::kNoSecondFact:
      return "its port is not the hash of both QPNs, and it was not born here at a PSN of its own: register it";
    case Unpaired::kHiddenFlows:
      return "not all flows between these hosts are visible";
  }
  return "";
}

Correlation::Correlation(const CorrelationLimits& limits)
    : limits_(limits),
      request_table_(limits.streams),
      answer_table_(limits.streams),
      hosts_table_(limits.host_pairs),
      requests_(limits.streams),
      answers_(limits.streams),
      hosts_(limits.host_pairs) {
  for (Hosts& h : hosts_) h.answers.reserve(kPerHostPair);
}

FlowKey Correlation::hosts_key(const FlowKey& k, bool reversed) {
  FlowKey h = k;
  h.dst_qpn = Qpn{0};
  if (reversed) std::swap(h.src, h.dst);
  return h;
}

// --- Streams come and go.

Correlation::Index Correlation::hosts_of(const FlowKey& key, Instant now) {
  if (const Index i = hosts_table_.find(key); i != kNoFlow) return i;
  const Index i = hosts_table_.insert(key);
  if (i == kNoFlow) return i;
  Hosts& h = hosts_[i];
  h.first_seen = now;
  h.strange = Instant{-1};
  h.slots.fill(kNoFlow);
  h.requests = 0;
  h.shared = 0;
  h.answers.clear();
  return i;
}

const Correlation::Hosts* Correlation::find_hosts(const FlowKey& key) const {
  const Index i = hosts_table_.find(key);
  return i == kNoFlow ? nullptr : &hosts_[i];
}

// A port that serves two QPs is not derived from either: one of 64 x 64 combinations in four hashes to it by
// chance.
void Correlation::note_port(Hosts& h, uint16_t port) {
  if (h.port_is_shared(port)) return;
  for (const Index i : h.slots) {
    if (i == kNoFlow || requests_[i].port != port) continue;
    h.shared_ports[h.shared++] = port;
    return;
  }
}

Correlation::Requests* Correlation::request_stream(const FlowKey& key, const Frame& f, Instant now) {
  const auto reborn = [&](const Requests& r) {
    const Seq psn = unwrap24(f.psn().v, r.highest_end);
    return psn > r.highest_end + kReborn || psn < r.lowest - kReborn;
  };
  Index i = request_table_.find(key);
  if (i != kNoFlow && !reborn(requests_[i])) return &requests_[i];
  if (i != kNoFlow) drop_requests(i);
  const Index hosts = hosts_of(hosts_key(key, false), now);
  if (hosts == kNoFlow) return nullptr;
  Hosts& h = hosts_[hosts];
  const auto slot = std::find(h.slots.begin(), h.slots.end(), kNoFlow);
  if (slot == h.slots.end() || (i = request_table_.insert(key)) == kNoFlow) {
    h.strange = now;  // PROTOCOL 3, 2d: from now on a flow exists that nobody watches
    return nullptr;
  }
  note_port(h, f.udp_source_port());
  *slot = i;
  ++h.requests;
  Requests& r = requests_[i];
  r = {};
  r.key = key;
  r.hosts = hosts;
  r.born = now;
  r.lowest = r.highest_end = kStart + f.psn().v;
  r.port = f.udp_source_port();
  r.slot = static_cast<uint32_t>(slot - h.slots.begin());
  for (const Index a : h.answers) answers_[a].fits.set(r.slot);  // what was seen before says nothing about it
  return &r;
}

Correlation::Answers* Correlation::answer_stream(const FlowKey& key, const Frame& f, Instant now) {
  if (const Index i = answer_table_.find(key); i != kNoFlow) return &answers_[i];
  const Index hosts = hosts_of(hosts_key(key, true), now);
  if (hosts == kNoFlow) return nullptr;
  Hosts& h = hosts_[hosts];
  const Index i = h.answers.size() < kPerHostPair ? answer_table_.insert(key) : kNoFlow;
  if (i == kNoFlow) {
    h.strange = now;  // PROTOCOL 3, 2d: from now on a flow exists that nobody watches
    return nullptr;
  }
  h.answers.push_back(i);
  Answers& a = answers_[i];
  a = {};
  a.key = key;
  a.hosts = hosts;
  a.lowest = a.highest_end = kStart + f.psn().v;
  a.port = f.udp_source_port();
  for (size_t s = 0; s < kPerHostPair; ++s) a.fits.set(s, h.slots[s] != kNoFlow);
  return &a;
}

void Correlation::drop_requests(Index i) {
  Requests& r = requests_[i];
  Hosts& h = hosts_[r.hosts];
  h.slots[r.slot] = kNoFlow;
  --h.requests;
  for (const Index a : h.answers) {
    answers_[a].fits.reset(r.slot);
    if (answers_[a].candidate == i) answers_[a].candidate = kNoFlow;
  }
  request_table_.erase(i);
  if (h.requests == 0 && h.answers.empty()) hosts_table_.erase(r.hosts);
}

void Correlation::drop_answers(Index i) {
  Hosts& h = hosts_[answers_[i].hosts];
  std::erase(h.answers, i);
  answer_table_.erase(i);
  if (h.requests == 0 && h.answers.empty()) hosts_table_.erase(answers_[i].hosts);
}

void Correlation::sweep(Instant now) {
  if (now < next_sweep_) return;
  next_sweep_ = now + kSettle;
  for (Index i = 0; i < limits_.streams; ++i) {
    if (request_table_.used(i) && requests_[i].last + limits_.idle < now) drop_requests(i);
    if (answer_table_.used(i) && answers_[i].last + limits_.idle < now) drop_answers(i);
  }
}

void Correlation::forget(const Registration& p) {
  for (const bool local : {true, false}) {
    const FlowKey key = p.flow(local);
    if (const Index i = request_table_.find(key); i != kNoFlow) drop_requests(i);
    if (const Index i = answer_table_.find(key); i != kNoFlow) drop_answers(i);
  }
}

// --- Requests.

void Correlation::on_request(const FlowKey& key, const Frame& f, Instant now) {
  sweep(now);
  Requests* r = request_stream(key, f, now);
  if (r == nullptr) return;
  r->last = now;
  r->one_port = r->one_port && r->port == f.udp_source_port();
  count_request(*r, f, now);
}

void Correlation::Requests::mark(Seq psn, Instant now) {
  constexpr uint32_t kAnsweredWithinMs = 1000;
  const auto ms = static_cast<uint32_t>(now.ns / 1'000'000);
  Mark& oldest = marks[marked % kMarks];
  if (marked >= kMarks && ms - oldest.at_ms < kAnsweredWithinMs) return;
  oldest = {psn, messages, ms};
  ++marked;
}

const Correlation::Mark* Correlation::Requests::find_mark(Seq psn) const {
  // PSNs rise from mark to mark.
  uint64_t low = marked > kMarks ? marked - kMarks : 0, high = marked;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (marks[middle % kMarks].psn < psn) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < marked && marks[low % kMarks].psn == psn ? &marks[low % kMarks] : nullptr;
}

void Correlation::count_request(Requests& r, const Frame& f, Instant now) {
  const OpcodeInfo& i = f.info();
  if ((i.first || i.middle) && legal_path_mtu(f.payload_length())) r.path_mtu = f.payload_length();
  const Seq psn = unwrap24(f.psn().v, r.highest_end);
  r.lowest = std::min(r.lowest, psn);
  if (psn < r.highest_end) return;  // again: counted then
  Seq end = psn + 1;
  if (f.opcode() == op::kRcReadReq) {
    // Without the path MTU nobody knows how many PSNs it takes: the most it can be, so that nothing is
    // excluded.
    const uint32_t mtu = r.path_mtu != 0 ? r.path_mtu : 256;
    end = psn + std::max<Seq>(1, (Seq{f.reth_length()} + mtu - 1) / mtu);
  }
  r.highest_end = end;
  const bool ends = i.ends_message() || i.read_class;
  if (ends) ++r.messages;
  if (!ends && !f.ack_req()) return;
  r.mark(end - 1, now);
  if (r.asked.is_never()) r.asked = now;
}

// --- Answers.

std::optional<Registration> Correlation::on_answer(const FlowKey& key, const Frame& f, bool from_lan,
                                                   Instant now, Duration rtt) {
  sweep(now);
  Answers* a = answer_stream(key, f, now);
  if (a == nullptr) return std::nullopt;
  a->last = now;
  a->one_port = a->one_port && a->port == f.udp_source_port();
  const Seq psn = unwrap24(f.psn().v, a->highest_end);
  a->lowest = std::min(a->lowest, psn);
  a->highest_end = std::max(a->highest_end, psn);
  if (f.info().aeth && (f.aeth_syndrome() & 0xe0) == kAethAck && (f.aeth_syndrome() & 31) != 31)
    a->credits = true;
  Hosts& h = hosts_[a->hosts];
  narrow(*a, h, f.psn(), now, rtt);
  const Index best = choose(*a, h);
  if (best != a->candidate) {
    a->candidate = best;
    a->evidence = 0;
    a->absolute = true;
    a->last_mark = {};
  }
  if (best == kNoFlow) {
    a->why = a->fits.none() ? Unpaired::kNoAnswers : Unpaired::kAmbiguous;
    return std::nullopt;
  }
  const Requests& r = requests_[best];
  weigh(*a, r, f, now);
  if (const auto why = objection(*a, r, h, now, rtt)) {
    a->why = *why;
    return std::nullopt;
  }
  Registration p = Registration::of(r.key, a->key.dst_qpn);
  if (from_lan) std::swap(p.a, p.b);  // the responder is local
  p.path_mtu = r.path_mtu;
  p.credits = a->credits;
  forget(p);
  return p;
}

// C10.
bool Correlation::on_path(const FlowKey& requests, const FlowKey& answers, Instant now) const {
  const Index r = request_table_.find(requests), a = answer_table_.find(answers);
  return r != kNoFlow && a != kNoFlow && requests_[r].last + kSettle >= now &&
         answers_[a].last + kSettle >= now;
}

std::vector<Correlation::Report> Correlation::report() const {
  std::vector<Index> order;
  for (Index i = 0; i < limits_.streams; ++i) {
    if (request_table_.used(i)) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](Index x, Index y) {
    return requests_[x].born != requests_[y].born ? requests_[x].born < requests_[y].born : x < y;
  });
  std::vector<Report> out;
  for (const Index i : order) {
    const Requests& r = requests_[i];
    Unpaired why = Unpaired::kNoAnswers;
    for (const Index k : hosts_[r.hosts].answers) {
      if (!answers_[k].fits.test(r.slot)) continue;
      why = answers_[k].candidate == i || answers_[k].candidate == kNoFlow ? answers_[k].why : why;
      if (answers_[k].candidate == i) break;
    }
    out.push_back({r.key, why});
  }
  return out;
}

}  // namespace matchrdma
