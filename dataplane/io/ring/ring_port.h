#pragma once
// A DPDK port in memory (net_ring) whose other end is in this process.
#include <functional>
#include <memory>
#include <string>

#include "dataplane/base/packet.h"
#include "dataplane/base/result.h"

struct rte_ring;

namespace matchrdma::io {

/// Duty: a device that gives what was put into it and keeps what it was given to send. Open it with
/// PortOptions{.device = name(), .standing = true}. Outlives the port that is opened on it. One thread.
class RingPort {
 public:
  /// `name`: at most 16 bytes, unique in the process. Each way holds `packets` - 1, a power of two.
  static Result<std::unique_ptr<RingPort>> create(const std::string& name, uint32_t packets);
  ~RingPort();
  RingPort(const RingPort&) = delete;
  RingPort& operator=(const RingPort&) = delete;

  std::string name() const { return "net_ring_" + name_; }
  uint16_t id() const { return id_; }
  /// False when it is full; the packet, which must be of an MbufPool, is given back then.
  bool put(PacketRef packet);
  /// Everything that was sent, oldest first; its memory goes back afterwards.
  void take(const std::function<void(Bytes)>& look);
  uint32_t waiting() const;  ///< put and not received yet

 private:
  RingPort(std::string name, rte_ring* in, rte_ring* out, uint16_t id)
      : name_(std::move(name)), in_(in), out_(out), id_(id) {}
  std::string name_;
  rte_ring* in_;
  rte_ring* out_;
  uint16_t id_;
};

}  // namespace matchrdma::io
