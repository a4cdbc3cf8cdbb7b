#include "host/flowcell/cell_queue.h"

#include <algorithm>
#include <array>
#include <utility>

#include "dataplane/base/check.h"

namespace matchrdma::host {
namespace {

constexpr uint64_t kChain = 2;            // work requests of a cell: plan, cell
constexpr uint64_t kTokensReserved = 32;  // of the send queue, for the other direction
constexpr uint64_t kMarker = 1;           // and for the last request of all
constexpr uint64_t kSignalEvery = 16;     // work requests without a completion, where only tokens leave
static_assert(CellQueue::kLeastSendQueue == kChain + kTokensReserved + kSignalEvery);
constexpr size_t kSmallBytes = std::max(kTokenBytes, kPlanBytes);
constexpr uint32_t kTokensAhead = 8;  // how far a token is looked for beyond one that does not come

}  // namespace

Result<std::unique_ptr<CellQueue>> CellQueue::open(const FlowcellOptions& options, Nic& nic, uint32_t path,
                                                   uint32_t epoch) {
  std::unique_ptr<CellQueue> q(new CellQueue(options, nic, path, epoch));
  if (auto r = q->prepare(); !r) return Error{"path " + std::to_string(path) + ": " + r.error()};
  return q;
}

Result<void> CellQueue::prepare() {
  auto qp = nic_.create_qp({Transport::kRc, options_.send_queue, options_.receive_queue});
  if (!qp) return Error{qp.error()};
  qp_ = *qp;
  const FlowcellShape& s = options_.shape;
  memory_.resize(s.ring * kTokenBytes + s.slots * kPlanBytes + options_.send_queue * kSmallBytes);
  auto region = nic_.add_region(memory_, Access::kRemoteWrite);
  if (!region) return Error{region.error()};
  region_ = *region;
  region_added_ = true;
  planned_.assign(s.slots, 0);
  return {};
}

CellQueue::~CellQueue() {
  if (qp_.v != QpHandle{}.v) nic_.destroy_qp(qp_);
  if (region_added_) nic_.remove_region(region_);
}

CellPathOpen CellQueue::address() const {
  const FlowcellShape& s = options_.shape;
  return {path_,
          epoch_,
          s.paths,
          s.path_mtu,
          s.slots,
          s.ring,
          s.layout,
          nic_.address(qp_),
          region_.rkey,
          region_.remote,
          region_.remote + s.ring * kTokenBytes};
}

Result<void> CellQueue::connect(const CellPathOpen& peer) {
  const ConnectOptions o{
      .path_mtu = options_.shape.path_mtu, .timeout_exponent = options_.timeout_exponent, .path = path_};
  if (auto r = nic_.connect(qp_, peer.address, o); !r) return r;
  peer_ = peer;
  repost();
  return {};
}

// No receiver-not-ready: a tail that is in flight has its receive posted, for a token is written after its
// tails' receives were posted again.
bool CellQueue::room(size_t cells_in_flight) const {
  return connected() && !failed_ && cells_in_flight < options_.receive_queue &&
         posted_ - completed_ + kChain + kTokensReserved <= options_.send_queue;
}

// A place is free again when its request has left the queue.
MutableBytes CellQueue::small_place(size_t bytes) {
  const FlowcellShape& s = options_.shape;
  const size_t at = s.ring * kTokenBytes + s.slots * kPlanBytes + posted_ % options_.send_queue * kSmallBytes;
  return MutableBytes(memory_).subspan(at, bytes);
}

void CellQueue::post(std::span<SendRequest> chain) {
  for (SendRequest& r : chain) r.id = posted_++;
  if (chain.back().signalled) last_signalled_ = posted_;
  const size_t taken = nic_.post_send(qp_, chain);
  MRDMA_CHECK(taken == chain.size() || taken == 0);  // there is room for all, or the queue pair has failed
  posted_ -= chain.size() - taken;
}

uint64_t CellQueue::post_cell(const CellWrite& w) {
  std::array<SendRequest, kChain> chain;
  size_t n = 0;
  if (std::exchange(planned_[w.slot], w.plan.message + 1) != w.plan.message + 1) {
    const MutableBytes place = small_place(kPlanBytes);
    encode_plan(w.plan, place);
    chain[n++] = {.op = SendRequest::Op::kWrite,
                  .data = place,
                  .lkey = region_.lkey,
                  .remote = peer_->plans + w.slot * kPlanBytes,
                  .rkey = peer_->rkey};
  }
  // RC carries out a request in order and completes it at the far end with its last packet: the immediate
  // proves every byte before it.
  chain[n++] = {.op = SendRequest::Op::kWriteImm,
                .signalled = true,
                .data = w.data,
                .lkey = w.lkey,
                .remote = w.remote,
                .rkey = w.rkey,
                .immediate = w.immediate};
  post(std::span(chain).first(n));
  return posted_;
}

uint64_t CellQueue::post_probe(uint32_t immediate) {
  SendRequest r{.op = SendRequest::Op::kWriteImm, .signalled = true, .immediate = immediate};
  post({&r, 1});
  return posted_;
}

bool CellQueue::post_token(Duration residence) {
  if (!connected() || failed_ || posted_ - completed_ + kMarker >= options_.send_queue) return false;
  const MutableBytes place = small_place(kTokenBytes);
  encode_token({static_cast<uint32_t>(tokens_out_), tails_, residence}, epoch_, place);
  SendRequest r{.op = SendRequest::Op::kWrite,
                .signalled = posted_ + 1 - last_signalled_ >= kSignalEvery,
                .data = place,
                .lkey = region_.lkey,
                .remote = peer_->tokens + tokens_out_ % options_.shape.ring * kTokenBytes,
                .rkey = peer_->rkey};
  ++tokens_out_;
  post({&r, 1});
  return true;
}

bool CellQueue::take(const Completion& c) {
  if (c.kind == Completion::Kind::kSend) {
    completed_ = std::max(completed_, c.id + 1);
    return false;
  }
  --receives_;
  if (c.status != Completion::Status::kOk || c.kind != Completion::Kind::kReceiveImm) return false;
  ++tails_;
  return true;
}

void CellQueue::repost() {
  if (failed_) return;
  static const std::array<ReceiveRequest, 64> kEmpty{};
  while (receives_ < options_.receive_queue) {
    const size_t some = std::min<size_t>(options_.receive_queue - receives_, kEmpty.size());
    const size_t taken = nic_.post_receive(qp_, std::span(kEmpty).first(some));
    receives_ += static_cast<uint32_t>(taken);
    if (taken < some) return;
  }
}

// The next one, or a later one that stands for it: what is torn is whole at the next look (HOST.md H11).
std::optional<CellToken> CellQueue::next_token() {
  for (uint32_t ahead = 0; ahead < kTokensAhead; ++ahead) {
    const uint64_t number = tokens_in_ + ahead;
    const Bytes place = Bytes(memory_).subspan(number % options_.shape.ring * kTokenBytes, kTokenBytes);
    if (load_be32(place.data()) != static_cast<uint32_t>(number)) continue;
    const auto t = decode_token(place, epoch_);
    if (!t) continue;
    tokens_in_ = number + 1;
    return t;
  }
  return {};
}

CellPlan CellQueue::plan(uint32_t slot) const {
  return decode_plan(Bytes(memory_).subspan(options_.shape.ring * kTokenBytes + slot * kPlanBytes, kPlanBytes));
}

void CellQueue::fail() {
  if (std::exchange(failed_, true)) return;
  nic_.fail_qp(qp_);
  if (!connected()) return;
  // Requests without a completion were done or were flushed: the marker comes back behind them all.
  SendRequest marker{.op = SendRequest::Op::kWrite, .signalled = true};
  post({&marker, 1});
}

}  // namespace matchrdma::host
