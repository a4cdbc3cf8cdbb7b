#include "host/verbs/verbs_nic.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

#include "host/verbs/device.h"
#include "host/verbs/events.h"
#include "host/verbs/queue_pair.h"

namespace matchrdma::host {
namespace {

Completion::Status status_of(ibv_wc_status s) {
  switch (s) {
    case IBV_WC_SUCCESS:
      return Completion::Status::kOk;
    case IBV_WC_WR_FLUSH_ERR:
      return Completion::Status::kFlushed;
    case IBV_WC_RETRY_EXC_ERR:
      return Completion::Status::kRetryExceeded;
    case IBV_WC_REM_ACCESS_ERR:
      return Completion::Status::kRemoteAccess;
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return Completion::Status::kRnrExceeded;
    default:
      return Completion::Status::kLocalError;
  }
}

/// Duty: the Nic over one Device: who a completion belongs to, and that the completion queue has room for all
/// of them.
class RdmaCoreNic : public Nic {
 public:
  explicit RdmaCoreNic(Device device)
      : device_(std::move(device)), wakes_({device_.channel->fd, device_.context->async_fd}) {}
  ~RdmaCoreNic() override {
    pairs_.clear();
    for (ibv_mr* mr : regions_)
      if (mr != nullptr) ::ibv_dereg_mr(mr);
  }
  const NicLimits& limits() const override { return device_.limits; }

  Result<QpHandle> create_qp(const QpOptions& options) override;
  QpAddress address(QpHandle qp) const override { return pair(qp).address(device_); }
  Result<void> connect(QpHandle qp, const QpAddress& peer, const ConnectOptions& options) override {
    return pair(qp).connect(device_, peer, options);
  }
  void fail_qp(QpHandle qp) override { pair(qp).fail(); }
  void destroy_qp(QpHandle qp) override;

  Result<Region> add_region(MutableBytes memory, Access access) override;
  void remove_region(const Region& region) override;

  size_t post_send(QpHandle qp, std::span<const SendRequest> requests) override {
    return pair(qp).post_send(requests);
  }
  size_t post_receive(QpHandle qp, std::span<const ReceiveRequest> requests) override {
    return pair(qp).post_receive(requests);
  }
  size_t poll(std::span<Completion> out) override;
  int fd() const override { return wakes_.fd(); }
  void arm() override;
  std::optional<std::string> event() override;

 private:
  static constexpr size_t kBatch = 64;
  /// Polls without a completion between two looks at the events of the device: a look is a system call.
  static constexpr uint32_t kLookEvery = 1024;

  QueuePair& pair(QpHandle qp) const {
    MRDMA_CHECK(qp.v < pairs_.size() && pairs_[qp.v] != nullptr);
    return *pairs_[qp.v];
  }
  size_t poll_some(std::span<Completion> out, bool& more);
  bool translate(const ibv_wc& wc, Completion& out) const;
  void take_events();
  void lost(uint32_t handle);

  Device device_;
  std::vector<std::unique_ptr<QueuePair>> pairs_;  ///< by handle; handles are not used again
  std::vector<ibv_mr*> regions_;                   ///< by handle
  std::vector<uint32_t> free_regions_;
  uint64_t entries_ = 0;         ///< of the completion queue that may be needed
  std::deque<Completion> kept_;  ///< polled on behalf of a queue pair that went, or made for one that was lost
  WakeUp wakes_;
  uint32_t empty_polls_ = 0;
  std::deque<std::string> events_;
};

Result<QpHandle> RdmaCoreNic::create_qp(const QpOptions& o) {
  const NicLimits& l = device_.limits;
  if (o.transport == Transport::kUc && !l.uc)
    return Error{l.name + " has no UC service (bnxt and irdma have none); use RC"};
  if (o.send_queue > l.max_send_queue || o.receive_queue > l.max_receive_queue) {
    return Error{l.name + " takes " + std::to_string(l.max_send_queue) + " send and " +
                 std::to_string(l.max_receive_queue) + " receive requests on a queue pair; ask for no more"};
  }
  if (entries_ + o.send_queue + o.receive_queue > l.max_completion_queue) {
    return Error{"the completion queue of " + l.name + " has " + std::to_string(l.max_completion_queue) +
                 " entries, " + std::to_string(entries_) + " are spoken for, and " +
                 std::to_string(o.send_queue + o.receive_queue) +
                 " more would be needed: ask for a longer one, or shorter queues"};
  }
  auto made = QueuePair::create(device_, static_cast<uint32_t>(pairs_.size()), o);
  if (!made) return Error{made.error()};
  entries_ += made->entries();
  pairs_.push_back(std::make_unique<QueuePair>(std::move(*made)));
  return QpHandle{static_cast<uint32_t>(pairs_.size() - 1)};
}

void RdmaCoreNic::destroy_qp(QpHandle qp) {
  entries_ -= pair(qp).entries();
  pairs_[qp.v] = nullptr;
  // Its completions leave the queue now: their room is given away, and a later poll() may come too late for
  // that.
  std::array<Completion, kBatch> found;
  for (bool more = true; more;) {
    const size_t n = poll_some(found, more);
    kept_.insert(kept_.end(), found.begin(), found.begin() + n);
  }
  std::erase_if(kept_, [qp](const Completion& c) { return c.qp == qp; });
}

Result<Region> RdmaCoreNic::add_region(MutableBytes memory, Access access) {
  const int flags = IBV_ACCESS_LOCAL_WRITE | (access != Access::kLocal ? IBV_ACCESS_REMOTE_WRITE : 0) |
                    (access == Access::kRemoteAtomic ? IBV_ACCESS_REMOTE_ATOMIC : 0);
  ibv_mr* const mr = ::ibv_reg_mr(device_.pd.get(), memory.data(), memory.size(), flags);
  if (mr == nullptr) {
    const int error = errno;
    const uint64_t lockable = error == ENOMEM ? lockable_memory() : UINT64_MAX;
    return Error{device_.limits.name + ": memory region of " + std::to_string(memory.size()) + " bytes: " +
                 std::strerror(error) + (lockable != UINT64_MAX ? "; " + memlock_remedy(lockable) : "")};
  }
  uint32_t handle = static_cast<uint32_t>(regions_.size());
  if (free_regions_.empty()) {
    regions_.push_back(mr);
  } else {
    handle = free_regions_.back();
    free_regions_.pop_back();
    regions_[handle] = mr;
  }
  return Region{handle, mr->lkey, mr->rkey, reinterpret_cast<uintptr_t>(memory.data())};
}

void RdmaCoreNic::remove_region(const Region& region) {
  MRDMA_CHECK(region.handle < regions_.size() && regions_[region.handle] != nullptr);
  // Not to be passed over: who believes that a key is gone gives the memory to somebody else.
  MRDMA_CHECK(::ibv_dereg_mr(std::exchange(regions_[region.handle], nullptr)) == 0);
  free_regions_.push_back(region.handle);
}

size_t RdmaCoreNic::poll(std::span<Completion> out) {
  size_t n = 0;
  for (; n < out.size() && !kept_.empty(); kept_.pop_front()) out[n++] = kept_.front();
  for (bool more = true; more && n < out.size();) n += poll_some(out.subspan(n), more);
  if (n == 0 && ++empty_polls_ % kLookEvery == 0) take_events();
  return n;
}

void RdmaCoreNic::arm() {
  take_events();
  unsigned taken = 0;
  ibv_cq* cq = nullptr;
  void* unused = nullptr;
  while (::ibv_get_cq_event(device_.channel.get(), &cq, &unused) == 0) ++taken;
  if (taken != 0) ::ibv_ack_cq_events(device_.cq.get(), taken);
  ::ibv_req_notify_cq(device_.cq.get(), 0);
}

void RdmaCoreNic::take_events() {
  ibv_async_event e{};
  while (::ibv_get_async_event(device_.context.get(), &e) == 0) {
    const EventEffect effect = effect_of(e.event_type);
    const uint32_t qpn = effect.what == EventEffect::What::kOneQueuePair ? e.element.qp->qp_num : 0;
    ::ibv_ack_async_event(&e);
    if (effect.what == EventEffect::What::kNothing) continue;
    events_.push_back(device_.limits.name + ": " + ::ibv_event_type_str(e.event_type) + effect.advice);
    for (uint32_t handle = 0; handle < pairs_.size(); ++handle) {
      if (pairs_[handle] == nullptr || effect.what == EventEffect::What::kTold) continue;
      if (effect.what == EventEffect::What::kEveryQueuePair || pairs_[handle]->qpn() == qpn) lost(handle);
    }
  }
}

void RdmaCoreNic::lost(uint32_t handle) {
  QueuePair& pair = *pairs_[handle];
  if (pair.try_fail()) return;
  for (const bool receive : {true, false})
    while (const auto id = pair.abandon(receive)) {
      Completion c;
      c.kind = receive ? Completion::Kind::kReceive : Completion::Kind::kSend;
      c.status = Completion::Status::kFlushed;
      c.qp = QpHandle{handle};
      c.id = *id;
      kept_.push_back(c);
    }
}

std::optional<std::string> RdmaCoreNic::event() {
  if (events_.empty()) take_events();
  if (events_.empty()) return {};
  std::string e = std::move(events_.front());
  events_.pop_front();
  return e;
}

size_t RdmaCoreNic::poll_some(std::span<Completion> out, bool& more) {
  std::array<ibv_wc, kBatch> wcs;
  const int asked = static_cast<int>(std::min(out.size(), wcs.size()));
  const int got = ::ibv_poll_cq(device_.cq.get(), asked, wcs.data());
  MRDMA_CHECK(got >= 0);
  more = got == asked;
  size_t n = 0;
  for (int i = 0; i < got; ++i) n += translate(wcs[i], out[n]) ? 1 : 0;
  return n;
}

bool RdmaCoreNic::translate(const ibv_wc& wc, Completion& out) const {
  const RequestTag tag = RequestTag::of(wc.wr_id);
  if (tag.qp >= pairs_.size() || pairs_[tag.qp] == nullptr) return false;
  const auto id = pairs_[tag.qp]->complete(tag);
  if (!id) return false;
  out = Completion{};
  out.kind = tag.receive ? Completion::Kind::kReceive : Completion::Kind::kSend;
  out.status = status_of(wc.status);
  out.qp = QpHandle{tag.qp};
  out.id = *id;
  if (tag.receive && wc.status == IBV_WC_SUCCESS) {
    out.bytes = wc.byte_len;
    if (wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
      out.kind = Completion::Kind::kReceiveImm;
      out.immediate = ntohl(wc.imm_data);
    }
  }
  return true;
}

}  // namespace

Result<VerbsNic> open_verbs_nic(const VerbsOptions& options) {
  auto device = open_device(options);
  if (!device) return Error{device.error()};
  std::string summary = device->summary;
  return VerbsNic{std::make_unique<RdmaCoreNic>(std::move(*device)), std::move(summary)};
}

}  // namespace matchrdma::host
