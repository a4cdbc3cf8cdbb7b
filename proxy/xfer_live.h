#pragma once
// A transfer between two processes over RDMA devices: real time, one thread, one peer.
#include <functional>
#include <string>
#include <vector>

#include "host/control/control_message.h"
#include "host/fabric/nic.h"
#include "host/xfer/transfer.h"
#include "proxy/xfer_bytes.h"
#include "proxy/xfer_peer.h"

namespace matchrdma {

/// One transfer as both ends have seen it.
struct LiveRow {
  host::XferSettings settings;
  uint64_t bytes = 0;
  host::TransferReport sender, receiver;
  std::string note{};  ///< why the scheme is another than was asked for; at the sender
  bool same() const { return sender.sha256 == receiver.sha256; }
  /// Best effort gave something up, or the transform rounded, and said so.
  bool as_told() const { return receiver.missing_bytes != 0 || settings.hadamard; }
};

/// What this end says first.
host::ControlHello live_hello(const host::NicLimits& nic);

/// Duty: carries out transfers over one NIC with one peer, first as the control connection says, then over the
/// queue pairs. Does not know where bytes come from or go.
class LiveEnd {
 public:
  LiveEnd(host::Nic& nic, XferPeer& peer) : nic_(nic), peer_(peer) {}

  /// `from` is registered with the NIC once for all transfers.
  Result<std::vector<LiveRow>> send_all(Bytes from, const host::XferSettings& settings,
                                        const std::vector<host::XferScheme>& schemes);
  /// Until the sender says good-bye. `arrived` sees the bytes of each.
  Result<std::vector<LiveRow>> receive_all(const std::function<Result<void>(Bytes)>& arrived);

 private:
  struct Source;
  /// `step` returns what went wrong, `moved` a figure that grows while something goes on.
  struct Drive {
    std::function<std::string(Instant)> step;
    std::function<uint64_t()> moved;
    std::function<bool()> done;
  };
  Result<void> drive(host::SdrEndpoint& end, const Drive& d);
  Result<void> drive_until_report(host::SdrEndpoint& end, Drive d, uint32_t epoch, host::TransferReport& out);
  Result<host::SdrEndpoint::Addresses> peers_addresses(uint32_t epoch, const host::SdrShape& agreed);
  Result<void> say_addresses(const host::SdrEndpoint& end, uint32_t epoch, host::Transport transport);
  Result<LiveRow> send_one(const Source& source, const host::XferSettings& s, uint32_t epoch);
  Result<LiveRow> receive_one(const host::TransferOffer& offer, std::vector<uint8_t>& to);

  host::Nic& nic_;
  XferPeer& peer_;
};

}  // namespace matchrdma
