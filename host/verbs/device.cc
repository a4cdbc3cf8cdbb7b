#include "host/verbs/device.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace matchrdma::host {
namespace {

Error failed(const std::string& what) { return Error{what + ": " + std::strerror(errno)}; }

std::string mebibytes(uint64_t bytes) {
  return bytes == UINT64_MAX ? "unlimited" : std::to_string(bytes >> 20) + " MiB";
}

std::string text_of(const std::array<uint8_t, 16>& gid) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET6, gid.data(), text.data(), text.size());
  return text.data();
}

Result<ContextPtr> open_context(const std::string& name) {
  int count = 0;
  ibv_device** const list = ::ibv_get_device_list(&count);
  const std::unique_ptr<ibv_device*, Closes<ibv_free_device_list>> owner(list);
  if (list == nullptr || count == 0) {
    return Error{
        "no RDMA device here: load the driver of the NIC, then `rdma link` shows it (for Soft-RoCE: rdma link "
        "add "
        "rxe0 type rxe netdev INTERFACE); in a container pass /dev/infiniband in"};
  }
  std::string names;
  for (int i = 0; i < count; ++i) {
    const std::string found = ::ibv_get_device_name(list[i]);
    names += (i == 0 ? "" : ", ") + found;
    if (!name.empty() && found != name) continue;
    ContextPtr context(::ibv_open_device(list[i]));
    if (!context) return failed("RDMA device " + found + " cannot be opened; look at /dev/infiniband");
    return context;
  }
  return Error{"there is no RDMA device " + name + "; there is: " + names};
}

Result<ibv_gid_entry> gid_of(const Device& d, const std::string& where, int wanted) {
  std::vector<ibv_gid_entry> table(1024);
  const ssize_t n = ::ibv_query_gid_table(d.context.get(), table.data(), table.size(), 0);
  if (n < 0) return Error{where + ": its GIDs cannot be read: " + std::strerror(static_cast<int>(-n))};
  table.resize(static_cast<size_t>(n));
  if (wanted < 0) {
    if (const auto chosen = choose_gid(table, d.port)) return *chosen;
    return Error{where + " has no RoCE v2 GID: give its network interface an IP address"};
  }
  for (const ibv_gid_entry& e : table) {
    if (e.port_num == d.port && e.gid_index == static_cast<uint32_t>(wanted) &&
        e.gid_type == IBV_GID_TYPE_ROCE_V2)
      return e;
  }
  return Error{where + ": GID " + std::to_string(wanted) +
               " is none of RoCE v2; `show_gids` or /sys/class/infiniband/*/" +
               "ports/*/gid_attrs/types tell which are"};
}

bool has_uc(const Device& d) {
  ibv_qp_init_attr a{};
  a.send_cq = a.recv_cq = d.cq.get();
  a.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
  a.qp_type = IBV_QPT_UC;
  return QpPtr(::ibv_create_qp(d.pd.get(), &a)) != nullptr;
}

void make_thread_domain(Device& d) {
  ibv_td_init_attr whole{};
  d.thread_domain.reset(::ibv_alloc_td(d.context.get(), &whole));
  if (!d.thread_domain) return;
  ibv_parent_domain_init_attr parent{};
  parent.pd = d.pd.get();
  parent.td = d.thread_domain.get();
  d.thread_pd.reset(::ibv_alloc_parent_domain(d.context.get(), &parent));
}

Result<void> find_limits(Device& d, const std::string& name, uint32_t entries) {
  ibv_device_attr a{};
  if (const int error = ::ibv_query_device(d.context.get(), &a))
    return Error{"RDMA device " + name + " does not tell its limits: " + std::strerror(error)};
  d.pd.reset(::ibv_alloc_pd(d.context.get()));
  if (!d.pd) return failed("RDMA device " + name + ": no protection domain");
  make_thread_domain(d);
  const int size = std::min(static_cast<int>(std::min<uint32_t>(entries, INT32_MAX)), a.max_cqe);
  d.channel.reset(::ibv_create_comp_channel(d.context.get()));
  if (!d.channel) return failed("RDMA device " + name + ": no completion channel");
  for (const int fd : {d.channel->fd, d.context->async_fd})
    if (::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK) != 0)
      return failed("RDMA device " + name + ": its events would be waited for");
  d.cq.reset(::ibv_create_cq(d.context.get(), size, nullptr, d.channel.get(), 0));
  if (!d.cq)
    return failed("RDMA device " + name + ": no completion queue of " + std::to_string(size) + " entries");
  NicLimits& l = d.limits;
  l.name = name;
  l.max_send_queue = l.max_receive_queue = static_cast<uint32_t>(a.max_qp_wr);
  l.max_completion_queue = static_cast<uint32_t>(d.cq->cqe);
  l.max_region = a.max_mr_size;
  l.type2_windows = (a.device_cap_flags & (IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B)) != 0;
  l.uc = has_uc(d);
  l.atomics = a.atomic_cap != IBV_ATOMIC_NONE;
  return {};
}

std::string summary_of(const Device& d, uint64_t memlock) {
  const NicLimits& l = d.limits;
  const auto yes = [](bool b) { return b ? "yes" : "no"; };
  return l.name + " port " + std::to_string(d.port) + ", GID " + std::to_string(d.gid_index) + " " +
         text_of(d.gid) + ", path MTU up to " + std::to_string(l.max_path_mtu) +
         ", work requests of a queue up to " + std::to_string(l.max_send_queue) + ", completion queue " +
         std::to_string(l.max_completion_queue) + ", UC " + yes(l.uc) + ", atomics " + yes(l.atomics) +
         ", type-2 windows " + yes(l.type2_windows) + ", thread domain " + yes(d.thread_pd != nullptr) +
         ", lockable memory " + mebibytes(memlock);
}

}  // namespace

std::optional<ibv_gid_entry> choose_gid(std::span<const ibv_gid_entry> table, uint32_t port) {
  const auto rank = [](const ibv_gid_entry& e) {
    constexpr std::array<uint8_t, 12> kIpv4{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    if (std::equal(kIpv4.begin(), kIpv4.end(), e.gid.raw)) return 0;
    return e.gid.raw[0] == 0xfe && (e.gid.raw[1] & 0xc0) == 0x80 ? 2 : 1;
  };
  const ibv_gid_entry* best = nullptr;
  for (const ibv_gid_entry& e : table) {
    if (e.port_num != port || e.gid_type != IBV_GID_TYPE_ROCE_V2) continue;
    if (best == nullptr || rank(e) < rank(*best)) best = &e;
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

uint64_t lockable_memory() {
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> sets{};
  if (::syscall(SYS_capget, &head, sets.data()) == 0 && (sets[0].effective & (1u << CAP_IPC_LOCK)) != 0)
    return UINT64_MAX;
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  return limit.rlim_cur;
}

std::string memlock_remedy(uint64_t lockable) {
  return "this user may lock " + mebibytes(lockable) +
         " of memory: raise memlock in /etc/security/limits.d, LimitMEMLOCK= of the unit, or --ulimit "
         "memlock=-1 of "
         "the container";
}

std::optional<std::string> memlock_complaint(uint64_t lockable, uint64_t least) {
  if (lockable >= least) return std::nullopt;
  return "the NIC needs " + mebibytes(least) + " of locked memory, and " + memlock_remedy(lockable);
}

Result<Device> open_device(const VerbsOptions& o) {
  const uint64_t memlock = lockable_memory();
  if (auto complaint = memlock_complaint(memlock, o.least_memlock)) return Error{*complaint};
  auto context = open_context(o.device);
  if (!context) return Error{context.error()};
  Device d;
  d.context = std::move(*context);
  d.port = static_cast<uint8_t>(o.port);
  d.traffic_class = o.traffic_class;
  const std::string name = ::ibv_get_device_name(d.context->device);
  const std::string where = "port " + std::to_string(o.port) + " of " + name;
  ibv_port_attr port{};
  if (const int error = ::ibv_query_port(d.context.get(), d.port, &port))
    return Error{where + " cannot be asked: " + std::strerror(error) + "; ports are numbered from 1"};
  if (port.state != IBV_PORT_ACTIVE)
    return Error{where + " is " + ::ibv_port_state_str(port.state) +
                 ": look at the cable, and set its interface up"};
  const auto gid = gid_of(d, where, o.gid_index);
  if (!gid) return Error{gid.error()};
  d.gid_index = static_cast<uint8_t>(gid->gid_index);
  std::copy_n(gid->gid.raw, d.gid.size(), d.gid.begin());
  if (auto found = find_limits(d, name, o.completion_queue); !found) return Error{found.error()};
  d.limits.max_path_mtu = bytes_of(port.active_mtu);
  d.limits.max_message = port.max_msg_sz;
  d.summary = summary_of(d, memlock);
  return d;
}

}  // namespace matchrdma::host
