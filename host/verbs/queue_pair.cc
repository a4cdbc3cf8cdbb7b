#include "host/verbs/queue_pair.h"

#include <arpa/inet.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>

namespace matchrdma::host {
namespace {

constexpr size_t kBatch = 64;  ///< requests with one doorbell
constexpr uint8_t kHopLimit = 64;
constexpr uint32_t kMostFlowLabel = (1 << 20) - 1;
constexpr uint8_t kRnrTimer = 12;  ///< 0.64 ms (IBA table of 9.7.5.2.8)
constexpr uint8_t kRnrForever = 7;

ibv_qp_type type_of(Transport t) {
  switch (t) {
    case Transport::kRc:
      return IBV_QPT_RC;
    case Transport::kUc:
      return IBV_QPT_UC;
    case Transport::kUd:
      break;
  }
  return IBV_QPT_UD;
}

std::string name_of(Transport t) { return t == Transport::kRc ? "RC" : t == Transport::kUc ? "UC" : "UD"; }

Result<void> modify(ibv_qp* qp, ibv_qp_attr& a, int mask, const char* to) {
  const int error = ::ibv_modify_qp(qp, &a, mask);
  if (error == 0) return {};
  return Error{std::string("queue pair to ") + to + ": " + std::strerror(error) +
               (a.qp_state == IBV_QPS_RTR ? "; can this port reach the peer's GID?" : "")};
}

// Of a flow label other than 0 drivers make the UDP source port (rdma_flow_label_to_udp_sport of rdma-core); 0
// leaves the port to them.
ibv_ah_attr way_to(const Device& d, const QpAddress& peer, uint32_t path) {
  ibv_ah_attr a{};
  a.is_global = 1;
  a.port_num = d.port;
  std::copy(peer.gid.begin(), peer.gid.end(), a.grh.dgid.raw);
  a.grh.sgid_index = d.gid_index;
  a.grh.hop_limit = kHopLimit;
  a.grh.traffic_class = d.traffic_class;
  a.grh.flow_label = path;
  return a;
}

Result<void> check(const Device& d, const ConnectOptions& o) {
  const NicLimits& l = d.limits;
  if (!std::has_single_bit(o.path_mtu) || o.path_mtu < 256 || o.path_mtu > 4096)
    return Error{"path MTU " + std::to_string(o.path_mtu) + " is none; choose 256, 512, 1024, 2048 or 4096"};
  if (o.path_mtu > l.max_path_mtu) {
    return Error{"path MTU " + std::to_string(o.path_mtu) + " does not fit port " + std::to_string(d.port) +
                 " of " + l.name + ", which carries " + std::to_string(l.max_path_mtu) +
                 ": raise the MTU of its network interface (4200 carries 4096), or choose " +
                 std::to_string(l.max_path_mtu)};
  }
  if (o.timeout_exponent > 31 || o.retries > 7)
    return Error{"RC: choose a timeout exponent of 0 to 31 and 0 to 7 retries"};
  if (o.path > kMostFlowLabel) return Error{"path " + std::to_string(o.path) + ": a flow label has 20 bits"};
  return {};
}

}  // namespace

PostedIds::PostedIds(uint32_t room) : room_(room), ids_(std::bit_ceil(std::max(room, 1u))) {}

uint32_t PostedIds::post(uint64_t id) {
  MRDMA_CHECK(room() > 0);
  ids_[next_ & (ids_.size() - 1)] = id;
  return next_++;
}

std::optional<uint64_t> PostedIds::complete(uint32_t number) {
  if (number - oldest_ >= next_ - oldest_) return std::nullopt;
  oldest_ = number + 1;
  return ids_[number & (ids_.size() - 1)];
}

QueuePair::QueuePair(QpPtr qp, uint32_t handle, const QpOptions& options, uint32_t psn)
    : qp_(std::move(qp)),
      handle_(handle),
      options_(options),
      psn_(psn),
      sent_(options.send_queue),
      received_(options.receive_queue) {}

Result<QueuePair> QueuePair::create(const Device& d, uint32_t handle, const QpOptions& o) {
  uint32_t psn = 0;
  if (::getrandom(&psn, sizeof psn, 0) != sizeof psn) return Error{"the system gives no random numbers"};
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = d.cq.get();
  init.cap = {.max_send_wr = o.send_queue,
              .max_recv_wr = o.receive_queue,
              .max_send_sge = 1,
              .max_recv_sge = 1,
              .max_inline_data = 0};
  init.qp_type = type_of(o.transport);
  QpPtr qp(::ibv_create_qp(d.pd_of_queues(), &init));
  if (!qp) {
    return Error{d.limits.name + ": no " + name_of(o.transport) + " queue pair with " +
                 std::to_string(o.send_queue) + " send and " + std::to_string(o.receive_queue) +
                 " receive requests: " + std::strerror(errno)};
  }
  ibv_qp_attr a{};
  a.qp_state = IBV_QPS_INIT;
  a.port_num = d.port;
  a.qkey = o.qkey;
  a.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | (d.limits.atomics ? IBV_ACCESS_REMOTE_ATOMIC : 0);
  const int own = o.transport == Transport::kUd ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
  if (auto done = modify(qp.get(), a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | own, "INIT"); !done)
    return Error{done.error()};
  return QueuePair(std::move(qp), handle, o, psn & 0xffffff);
}

Result<void> QueuePair::connect(const Device& d, const QpAddress& peer, const ConnectOptions& o) {
  if (auto fine = check(d, o); !fine) return fine;
  const bool rc = options_.transport == Transport::kRc, ud = options_.transport == Transport::kUd;
  ibv_qp_attr a{};
  a.qp_state = IBV_QPS_RTR;
  int mask = IBV_QP_STATE;
  if (ud) {
    ibv_ah_attr way = way_to(d, peer, o.path);
    peer_.reset(::ibv_create_ah(d.pd.get(), &way));
    if (!peer_) return Error{std::string("no way to the peer's GID: ") + std::strerror(errno)};
    peer_qpn_ = peer.qpn;
    peer_qkey_ = o.remote_qkey;
  } else {
    a.ah_attr = way_to(d, peer, o.path);
    a.path_mtu = static_cast<ibv_mtu>(std::countr_zero(o.path_mtu) - 7);
    a.dest_qp_num = peer.qpn;
    a.rq_psn = peer.psn;
    mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  }
  if (rc) {
    a.max_dest_rd_atomic = 1;
    a.min_rnr_timer = kRnrTimer;
    mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  }
  if (auto done = modify(qp_.get(), a, mask, "RTR"); !done) return done;
  a.qp_state = IBV_QPS_RTS;
  a.sq_psn = psn_;
  mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
  if (rc) {
    a.timeout = static_cast<uint8_t>(o.timeout_exponent);
    a.retry_cnt = static_cast<uint8_t>(o.retries);
    a.rnr_retry = kRnrForever;
    a.max_rd_atomic = 1;
    mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  }
  return modify(qp_.get(), a, mask, "RTS");
}

bool QueuePair::try_fail() {
  ibv_qp_attr a{};
  a.qp_state = IBV_QPS_ERR;
  return ::ibv_modify_qp(qp_.get(), &a, IBV_QP_STATE) == 0;
}

void QueuePair::fail() { MRDMA_CHECK(try_fail()); }

size_t QueuePair::post_send(std::span<const SendRequest> requests) {
  requests = requests.first(std::min<size_t>(requests.size(), sent_.room()));
  size_t taken = 0;
  while (taken < requests.size()) {
    const auto next = requests.subspan(taken, std::min(kBatch, requests.size() - taken));
    const size_t n = post_send_some(next);
    taken += n;
    if (n < next.size()) break;
  }
  return taken;
}

size_t QueuePair::post_send_some(std::span<const SendRequest> requests) {
  std::array<ibv_send_wr, kBatch> wrs{};
  std::array<ibv_sge, kBatch> parts;
  for (size_t i = 0; i < requests.size(); ++i) {
    const SendRequest& r = requests[i];
    ibv_send_wr& w = wrs[i];
    parts[i] = {reinterpret_cast<uintptr_t>(r.data.data()), static_cast<uint32_t>(r.data.size()), r.lkey};
    w.wr_id = RequestTag{false, handle_, sent_.post(r.id)}.packed();
    w.next = i + 1 < requests.size() ? &wrs[i + 1] : nullptr;
    w.sg_list = &parts[i];
    w.num_sge = r.data.empty() ? 0 : 1;
    w.send_flags = r.signalled ? IBV_SEND_SIGNALED : 0;
    if (r.op == SendRequest::Op::kSend) {
      w.opcode = IBV_WR_SEND;
      if (peer_) {
        w.wr.ud.ah = peer_.get();
        w.wr.ud.remote_qpn = peer_qpn_;
        w.wr.ud.remote_qkey = peer_qkey_;
      }
    } else if (r.atomic()) {
      parts[i] = {reinterpret_cast<uintptr_t>(r.result.data()), static_cast<uint32_t>(r.result.size()), r.lkey};
      w.num_sge = 1;
      w.opcode = r.op == SendRequest::Op::kFetchAdd ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_ATOMIC_CMP_AND_SWP;
      w.wr.atomic = {r.remote, r.add_or_compare, r.swap, r.rkey};
    } else {
      w.opcode = r.op == SendRequest::Op::kWrite ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_WRITE_WITH_IMM;
      w.imm_data = htonl(r.immediate);
      w.wr.rdma.remote_addr = r.remote;
      w.wr.rdma.rkey = r.rkey;
    }
  }
  ibv_send_wr* bad = nullptr;
  if (::ibv_post_send(qp_.get(), wrs.data(), &bad) == 0) return requests.size();
  const auto taken = static_cast<size_t>(bad - wrs.data());
  sent_.take_back(static_cast<uint32_t>(requests.size() - taken));
  return taken;
}

size_t QueuePair::post_receive(std::span<const ReceiveRequest> requests) {
  requests = requests.first(std::min<size_t>(requests.size(), received_.room()));
  size_t taken = 0;
  while (taken < requests.size()) {
    const auto next = requests.subspan(taken, std::min(kBatch, requests.size() - taken));
    const size_t n = post_receive_some(next);
    taken += n;
    if (n < next.size()) break;
  }
  return taken;
}

size_t QueuePair::post_receive_some(std::span<const ReceiveRequest> requests) {
  std::array<ibv_recv_wr, kBatch> wrs{};
  std::array<ibv_sge, kBatch> parts;
  for (size_t i = 0; i < requests.size(); ++i) {
    const ReceiveRequest& r = requests[i];
    parts[i] = {reinterpret_cast<uintptr_t>(r.data.data()), static_cast<uint32_t>(r.data.size()), r.lkey};
    wrs[i].wr_id = RequestTag{true, handle_, received_.post(r.id)}.packed();
    wrs[i].next = i + 1 < requests.size() ? &wrs[i + 1] : nullptr;
    wrs[i].sg_list = &parts[i];
    wrs[i].num_sge = r.data.empty() ? 0 : 1;
  }
  ibv_recv_wr* bad = nullptr;
  if (::ibv_post_recv(qp_.get(), wrs.data(), &bad) == 0) return requests.size();
  const auto taken = static_cast<size_t>(bad - wrs.data());
  received_.take_back(static_cast<uint32_t>(requests.size() - taken));
  return taken;
}

}  // namespace matchrdma::host
