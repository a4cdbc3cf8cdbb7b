#include "pcap/replay_checks.h"

#include <algorithm>

#include "pcap/packet_mask.h"
#include "pcap/replay_causality.h"

namespace matchrdma {
namespace {

bool of_ours(Cause c) { return c == Cause::kPseudoAck || c == Cause::kPseudoNak || c == Cause::kFaultNak; }

}  // namespace

ReplayChecks::ReplayChecks(const TraceFlows& flows)
    : flows_(flows),
      fence_(flows),
      state_(flows.streams().size()),
      copies_(static_cast<size_t>(Cause::kCount)) {
  for (size_t i = 0; i < state_.size(); ++i) {
    Flow& f = state_[i];
    f.in_near = f.in_reach = f.out_near = f.out_highest = f.forgotten = f.answered_end =
        flows.streams()[i].first;
  }
}

void ReplayChecks::entered(const PacketView& v) {
  if (v.request()) {
    request_entered(v);
  } else if (v.answer()) {
    answer_entered(v);
  }
}

void ReplayChecks::request_entered(const PacketView& v) {
  Flow& f = flow(v.stream);
  const Seq seq = place_psn(v.frame().psn(), f.in_near);
  const bool new_life = seq < f.in_near && flows_.streams()[static_cast<size_t>(v.stream)].reused;
  f.in_near = std::max(f.in_near, seq);
  const uint32_t path_mtu = flows_.streams()[static_cast<size_t>(v.stream)].path_mtu;
  f.in_reach = std::max(f.in_reach, seq + read_psns(v.frame(), path_mtu) - 1);
  if (v.read_request()) {
    ++report_.read_copies_in;
    fence_.requested(v, seq);
  }
  if (seq < f.forgotten) return;
  const uint64_t fingerprint = masked_fingerprint(v.frame());
  if (Request* known = f.requests.find(seq); known != nullptr) {
    if (!known->entered_as(fingerprint)) known->variants.push_back(fingerprint);
    return;
  }
  Request& r = f.requests.at(seq);
  r.fingerprint = fingerprint;
  r.new_life = new_life;
  ++in_;
  trim(f);
}

// What the recording says was answered, whatever became of the answer on its way.
void ReplayChecks::answer_entered(const PacketView& v) {
  if (v.data_response()) {
    ++report_.responses_in;
    response_sum_in_ += masked_fingerprint(v.frame());
  }
  const int stream = flows_.streams()[static_cast<size_t>(v.stream)].partner;
  if (stream < 0) return;
  Flow& f = flow(stream);
  const Seq psn = unwrap24(v.frame().psn().v, f.in_near);
  const OpcodeInfo& info = v.frame().info();
  const bool covers = v.positive_ack() || (v.data_response() && !info.first && !info.middle);
  f.answered_end = std::max(f.answered_end, psn + (covers ? 1 : 0));
  trim(f);
}

void ReplayChecks::lost_on_span(const PacketView& v) {
  if (v.data_response()) {
    ++responses_lost_;
    response_sum_lost_ += masked_fingerprint(v.frame());
  }
  if (!v.request()) return;
  Flow& f = flow(v.stream);
  Request* r = f.requests.find(unwrap24(v.frame().psn().v, f.in_near));
  if (r != nullptr && !r->out) r->lost_on_span = true;
}

void ReplayChecks::left(const PacketView& v, Cause cause) {
  if (cause != Cause::kForward && v.bad_icrc) ++report_.bad_icrc_out;
  if (v.request()) {
    request_left(v, cause);
  } else if (v.data_response() && !of_ours(cause)) {
    ++report_.responses_out;
    response_sum_out_ += masked_fingerprint(v.frame());
    fence_.answered(v);
  } else if (of_ours(cause)) {
    aeth_of_ours(v);
  }
}

void ReplayChecks::request_left(const PacketView& v, Cause cause) {
  Flow& f = flow(v.stream);
  const Seq seq = place_psn(v.frame().psn(), f.out_near);
  f.out_near = std::max(f.out_near, seq);
  if (v.read_request()) ++report_.read_copies_out;
  Request* r = f.requests.find(seq);
  if (r == nullptr) {
    if (seq < f.forgotten) {
      ++copies_[static_cast<size_t>(cause)];
    } else {
      ++report_.unknown_out;
    }
    return;
  }
  if (!r->entered_as(masked_fingerprint(v.frame()))) report_.bytes_identical = false;
  if (r->out) {
    ++copies_[static_cast<size_t>(cause)];
    return;
  }
  r->out = true;
  ++out_;
  if (r->lost_on_span) ++repaired_;
  if (f.any_out && seq < f.out_highest && !v.read_request() && !r->new_life) report_.in_order = false;
  f.out_highest = std::max(f.out_highest, seq);
  f.any_out = true;
}

// Judged only where the capture leaves no doubt who the partner is.
void ReplayChecks::aeth_of_ours(const PacketView& v) {
  if (v.stream < 0) return;
  const int stream = flows_.sure_partner(v.stream);
  if (stream < 0) return;
  const Seq psn = unwrap24(v.frame().psn().v, flow(stream).in_near);
  const bool entered = psn <= flow(stream).in_reach;
  if (v.positive_ack() && !entered && !owned_in_an_earlier_life(v.stream, v.frame().psn())) {
    ++report_.aeth_not_owned;
    return;
  }
  const auto fence = fence_.first_unanswered(stream);
  // A fault may stand at the READ's own next response (PROTOCOL 4, poisoning).
  if (entered && fence && psn >= *fence && v.frame().aeth_syndrome() != kNakRemoteOperation)
    ++report_.aeth_above_fence;
}

// The proxies end an old life later than the capture does.
bool ReplayChecks::owned_in_an_earlier_life(int stream, Psn psn) const {
  const auto before = [this](int i) { return flows_.streams()[static_cast<size_t>(i)].previous_life; };
  for (int i = before(stream); i >= 0; i = before(i)) {
    const int requests = flows_.sure_partner(i);
    if (requests < 0) return true;  // nobody can say
    const Flow& f = state_[static_cast<size_t>(requests)];
    if (unwrap24(psn.v, f.in_near) <= f.in_reach) return true;
  }
  return false;
}

void ReplayChecks::trim(Flow& f) {
  const Seq keep = std::min(f.answered_end, f.in_near) - kSlack;
  while (!f.requests.empty()) {
    const auto& front = f.requests.front();
    const bool done = front.value.out && front.seq < keep;
    if (!done && f.requests.size() <= kRemembered) return;
    if (!done && front.value.out && front.seq >= f.answered_end) ++f.unanswered_forgotten;
    if (!front.value.out && front.value.lost_on_span) ++f.gone_forgotten;
    f.forgotten = front.seq + 1;
    f.requests.pop_front();
  }
}

uint64_t ReplayChecks::unanswered() const {
  uint64_t n = 0;
  for (size_t i = 0; i < state_.size(); ++i) {
    if (flows_.sure_partner(static_cast<int>(i)) < 0) continue;
    const Flow& f = state_[i];
    n += f.unanswered_forgotten;
    for (size_t k = 0; k < f.requests.size(); ++k)
      if (f.requests[k].value.out && f.requests[k].seq >= f.answered_end) ++n;
  }
  return n;
}

uint64_t ReplayChecks::gone_on_span() const {
  uint64_t n = 0;
  for (const Flow& f : state_) {
    n += f.gone_forgotten;
    for (size_t k = 0; k < f.requests.size(); ++k)
      if (!f.requests[k].value.out && f.requests[k].value.lost_on_span) ++n;
  }
  return n;
}

DeliveryReport ReplayChecks::report() const {
  DeliveryReport r = report_;
  r.requests_in = in_;
  r.requests_out = out_;
  r.lost = in_ - out_;
  r.gone_on_span = gone_on_span();
  for (size_t i = 0; i < copies_.size(); ++i)
    if (copies_[i] != 0) r.copies[cause_key(static_cast<Cause>(i))] = copies_[i];
  // Copies made by the span itself make the sums differ without harm; fewer out than in is told by the counts.
  r.responses_identical = r.responses_out + responses_lost_ != r.responses_in ||
                          response_sum_in_ == response_sum_out_ + response_sum_lost_;
  return r;
}

}  // namespace matchrdma
