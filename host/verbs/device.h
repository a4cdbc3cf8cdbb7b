#pragma once
// Device, port, GID and limits. For the .cc files of this room alone: it names types of libibverbs.
#include <infiniband/verbs.h>

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "host/verbs/verbs_nic.h"

namespace matchrdma::host {

template <auto close>
struct Closes {
  template <class T>
  void operator()(T* p) const {
    close(p);
  }
};
using ContextPtr = std::unique_ptr<ibv_context, Closes<ibv_close_device>>;
using PdPtr = std::unique_ptr<ibv_pd, Closes<ibv_dealloc_pd>>;
struct ClosesThreadDomain {  // of a function that stands in the header of libibverbs
  void operator()(ibv_td* p) const { ::ibv_dealloc_td(p); }
};
using TdPtr = std::unique_ptr<ibv_td, ClosesThreadDomain>;
using CqPtr = std::unique_ptr<ibv_cq, Closes<ibv_destroy_cq>>;
using ChannelPtr = std::unique_ptr<ibv_comp_channel, Closes<ibv_destroy_comp_channel>>;
using QpPtr = std::unique_ptr<ibv_qp, Closes<ibv_destroy_qp>>;
using AhPtr = std::unique_ptr<ibv_ah, Closes<ibv_destroy_ah>>;

/// An open device and what every queue pair needs of it.
struct Device {
  ContextPtr context;
  PdPtr pd;
  /// Of the one thread that uses the NIC: drivers that have it (mlx5) take no locks for its queue pairs.
  /// Otherwise empty.
  TdPtr thread_domain;
  PdPtr thread_pd;
  ChannelPtr channel;
  CqPtr cq;
  uint8_t port = 1;
  uint8_t gid_index = 0;
  uint8_t traffic_class = 0;
  std::array<uint8_t, 16> gid{};
  NicLimits limits;
  std::string summary;

  ibv_pd* pd_of_queues() const { return thread_pd ? thread_pd.get() : pd.get(); }
};

Result<Device> open_device(const VerbsOptions& options);

/// Of the RoCE v2 entries of a port: an IPv4 address before an IPv6 one before a link-local one.
std::optional<ibv_gid_entry> choose_gid(std::span<const ibv_gid_entry> table, uint32_t port);

/// What this process may lock; UINT64_MAX: as much as there is.
uint64_t lockable_memory();
/// What to do about it.
std::string memlock_remedy(uint64_t lockable);
/// A sentence, or nothing where it is enough.
std::optional<std::string> memlock_complaint(uint64_t lockable, uint64_t least);

inline uint32_t bytes_of(ibv_mtu mtu) { return 128u << mtu; }

}  // namespace matchrdma::host
