// Posting, sending and timers. What comes back is in rc_requester_answers.cc.
#include "model/rc_requester.h"

#include <algorithm>

namespace matchrdma::model {
namespace {

constexpr int64_t kMaxWindow = int64_t{1} << 22;  // IBA 9.7.2: a window must stay below half the PSN space

/// First, middle, last or only packet of a SEND or WRITE (IBA 9.4).
uint8_t request_opcode(WrType type, bool first, bool last) {
  const bool send = is_send(type);
  if (!last) {
    if (first) return send ? op::kRcSendFirst : op::kRcWriteFirst;
    return send ? op::kRcSendMiddle : op::kRcWriteMiddle;
  }
  switch (type) {
    case WrType::kSend:
      return first ? op::kRcSendOnly : op::kRcSendLast;
    case WrType::kSendImm:
      return first ? op::kRcSendOnlyImm : op::kRcSendLastImm;
    case WrType::kSendInv:
      return first ? op::kRcSendOnlyInv : op::kRcSendLastInv;
    case WrType::kWriteImm:
      return first ? op::kRcWriteOnlyImm : op::kRcWriteLastImm;
    default:
      return first ? op::kRcWriteOnly : op::kRcWriteLast;
  }
}

}  // namespace

RcRequester::RcRequester(const QpIdentity& id, const RequesterConfig& config, const MemoryConfig& remote_memory)
    : id_(id),
      config_(config),
      shadow_(remote_memory),
      scratch_(id.path_mtu),
      post_seq_(id.send_start.v),
      una_(post_seq_),
      send_seq_(post_seq_),
      max_sent_(post_seq_),
      retries_left_(config.retry_count),
      rnr_left_(config.rnr_retry),
      msn_seen_at_(post_seq_ - 1) {}

size_t RcRequester::post(const WorkRequest& wr, Instant now) {
  Record r;
  r.wr = wr;
  if (is_atomic(wr.type)) r.wr.length = 8;
  r.first = post_seq_;
  // A request of length 0 still takes one PSN; a READ takes one for each response packet (IBA 9.7.2).
  r.psns =
      is_atomic(wr.type) ? 1 : std::max<int64_t>(1, (int64_t{wr.length} + id_.path_mtu - 1) / id_.path_mtu);
  r.posted = now;
  post_seq_ += r.psns;
  if (failed()) {
    r.status = WcStatus::kFlushed;
    r.completed = now;
  }
  remember(r, records_.size());
  records_.push_back(r);
  return records_.size() - 1;
}

/// Runs the request on the shadow memory, as the responder will in the same order.
void RcRequester::remember(Record& r, size_t index) {
  if (is_atomic(r.wr.type)) {
    if (!shadow_.memory().allows(r.wr.va, 8, r.wr.rkey)) return;
    r.expected_original = shadow_.load64(r.wr.va);
    uint64_t value = r.expected_original;
    if (r.wr.type == WrType::kFetchAdd)
      value += r.wr.swap_add;
    else if (value == r.wr.compare)
      value = r.wr.swap_add;
    std::memcpy(shadow_.write(r.wr.va, 8, r.wr.rkey, static_cast<int64_t>(index)).data(), &value, 8);
  } else if (is_write(r.wr.type)) {
    MutableBytes all = shadow_.write(r.wr.va, r.wr.length, r.wr.rkey, static_cast<int64_t>(index));
    for (Seq s = r.first; !all.empty(); ++s) {
      const size_t n = std::min<size_t>(all.size(), id_.path_mtu);
      Content(id_.content_key, s).fill(all.first(n));
      all = all.subspan(n);
    }
  }
}

void RcRequester::describe(const Record& r, Seq seq, RequestInfo& out) const {
  const uint32_t done = static_cast<uint32_t>(seq - r.first) * id_.path_mtu;
  const bool first = seq == r.first, last = seq == r.last();
  out = {};
  if (is_atomic(r.wr.type)) {
    out.opcode = r.wr.type == WrType::kFetchAdd ? op::kRcFetchAdd : op::kRcCmpSwap;
    out.va = r.wr.va;
    out.rkey = r.wr.rkey;
    out.swap_add = r.wr.swap_add;
    out.compare = r.wr.type == WrType::kCmpSwap ? r.wr.compare : 0;
    return;
  }
  if (r.wr.type == WrType::kRead) {
    // A retry asks for what is missing: the PSN of the first missing response, the range moved along with it.
    out.opcode = op::kRcReadReq;
    out.va = r.wr.va + done;
    out.rkey = r.wr.rkey;
    out.dma_length = r.wr.length - done;
    return;
  }
  out.opcode = request_opcode(r.wr.type, first, last);
  out.payload_length = last ? r.wr.length - done : id_.path_mtu;
  if (is_write(r.wr.type) && first) {
    out.va = r.wr.va;
    out.rkey = r.wr.rkey;
    out.dma_length = r.wr.length;
  }
  const OpcodeInfo& info = opcode_info(out.opcode);
  if (info.imm || info.ieth) out.imm = r.wr.imm;
}

bool RcRequester::describe(Seq seq, RequestInfo& out) const {
  if (records_.empty() || seq < records_.front().first || seq >= post_seq_) return false;
  describe(records_[record_of(seq)], seq, out);
  return true;
}

size_t RcRequester::record_of(Seq seq) const {
  const auto it = std::upper_bound(records_.begin(), records_.end(), seq,
                                   [](Seq s, const Record& r) { return s < r.first; });
  return static_cast<size_t>(it - records_.begin()) - 1;
}

int64_t RcRequester::window() const {
  return config_.window_psns > 0 ? std::min(config_.window_psns, kMaxWindow) : kMaxWindow;
}

/// The responder may lack a receive work request for this message: SSN (counted from 1) beyond the limit.
bool RcRequester::credit_limited(size_t record) const {
  return config_.use_credits && !credits_off_ && takes_receive(records_[record].wr.type) &&
         static_cast<int64_t>(record) + 1 > limit_;
}

/// Beyond the limit one packet may go, and nothing behind it until it is acknowledged (IBA 9.7.7.2).
bool RcRequester::credits_allow() const {
  if (probe_seq_ >= una_ && credit_limited(probe_wr_)) return false;
  return !credit_limited(send_wr_) || send_seq_ == records_[send_wr_].first || una_ > records_[send_wr_].first;
}

bool RcRequester::ready(Instant now) const {
  if (failed() || send_wr_ >= records_.size()) return now >= next_timer();
  if (waits_for_receiver()) return now >= rnr_until_;
  if (now >= timer_) return true;
  if (send_seq_ - una_ >= window()) return false;
  if (is_read_class(records_[send_wr_].wr.type) && outstanding_reads_ >= config_.max_rd_atomic) return false;
  return credits_allow();
}

Instant RcRequester::next_timer() const { return failed() ? Instant::never() : earlier(timer_, rnr_until_); }

bool RcRequester::wants_ack(const Record& r, Seq next) const {
  if (next > r.last() || since_ack_req_ + 1 >= config_.ack_every) return true;
  // Nobody would acknowledge what the window or the credits stop behind.
  return next - una_ >= window() || credit_limited(send_wr_);
}

PacketRef RcRequester::poll(Instant now, PacketPool& pool) {
  run_timers(now);
  if (send_wr_ >= records_.size() || !ready(now)) return {};
  Record& r = records_[send_wr_];
  const bool read_class = is_read_class(r.wr.type);
  const Seq next = read_class ? r.last() + 1 : send_seq_ + 1;
  RequestInfo info;
  describe(r, send_seq_, info);
  RoceSpec spec;
  spec.opcode = info.opcode;
  spec.dest_qp = id_.remote;
  spec.psn = wire_psn(send_seq_);
  spec.pkey = id_.pkey;
  spec.ack_req = wants_ack(r, next);
  spec.va = info.va;
  spec.rkey = info.rkey;
  spec.dma_length = info.dma_length;
  spec.swap_add = info.swap_add;
  spec.compare = info.compare;
  spec.imm = spec.ieth_rkey = info.imm;
  const MutableBytes payload(scratch_.data(), info.payload_length);
  Content(id_.content_key, send_seq_).fill(payload);
  spec.payload = payload;
  PacketRef p = build_roce(id_.path, spec, pool);
  if (!p) return p;

  ++stats_.packets;
  if (send_seq_ < max_sent_) ++stats_.retransmitted;
  since_ack_req_ = spec.ack_req ? 0 : since_ack_req_ + 1;
  if (credit_limited(send_wr_) && send_seq_ == r.first) {
    probe_seq_ = send_seq_;
    probe_wr_ = send_wr_;
  }
  if (read_class && !r.issued) {
    r.issued = true;
    ++outstanding_reads_;
  }
  if (spec.ack_req) ack_req_seq_ = next - 1;
  send_seq_ = next;
  max_sent_ = std::max(max_sent_, next);
  if (next > r.last()) ++send_wr_;
  if (timer_.is_never()) restart_timer(now);
  return p;
}

/// The timer watches packets that must be acknowledged, not the ones behind which more will come.
void RcRequester::restart_timer(Instant now) {
  const int shift = config_.exponential_timeout ? std::min(timeouts_in_row_, 6) : 0;
  timer_ = ack_req_seq_ >= una_ ? now + config_.timeout * (int64_t{1} << shift) : Instant::never();
}

void RcRequester::run_timers(Instant now) {
  if (failed()) return;
  if (now >= rnr_until_) {
    rnr_until_ = Instant::never();
    go_back();
  }
  if (now >= timer_) {
    ++stats_.timeouts;
    ++timeouts_in_row_;
    retry(now);
  }
}

void RcRequester::retry(Instant now) {
  if (retries_left_ == 0) {
    fail(WcStatus::kRetryExceeded, now);
    return;
  }
  if (retries_left_ > 0) --retries_left_;
  retry_started_ = true;
  go_back();
}

/// Go-back-N: everything from the oldest unacknowledged PSN goes out again, also from the middle of a message.
void RcRequester::go_back() {
  for (size_t i = una_wr_; i < records_.size() && i <= send_wr_; ++i) records_[i].issued = false;
  outstanding_reads_ = 0;
  send_seq_ = una_;
  send_wr_ = una_wr_;
  since_ack_req_ = 0;
  ack_req_seq_ = probe_seq_ = -1;
  timer_ = Instant::never();
}

void RcRequester::fail(WcStatus reason, Instant now) {
  if (failed()) return;
  failure_ = reason;
  timer_ = rnr_until_ = Instant::never();
  for (size_t i = una_wr_; i < records_.size(); ++i) {
    records_[i].status = i == una_wr_ ? reason : WcStatus::kFlushed;
    records_[i].completed = now;
  }
}

}  // namespace matchrdma::model
