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
#include "proxy/xfer_registration.h"

namespace matchrdma {

/// One transfer as both ends have seen it.
struct LiveRow {
  host::XferSettings settings;
  uint64_t bytes = 0;
  host::TransferReport sender, receiver;
  std::string note{};               ///< why the scheme is another than was asked for; at the sender
  std::vector<std::string> news{};  ///< what befell the paths, as this end saw it
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
  /// `registration`: nullptr where no proxy is told.
  LiveEnd(host::Nic& nic, XferPeer& peer, XferRegistration* registration)
      : nic_(nic), peer_(peer), registration_(registration) {}

  /// `from` is registered with the NIC once for all transfers.
  Result<std::vector<LiveRow>> send_all(Bytes from, const host::XferSettings& settings,
                                        const std::vector<host::XferScheme>& schemes);
  /// Until the sender says good-bye. `arrived` sees the bytes of each.
  Result<std::vector<LiveRow>> receive_all(const std::function<Result<void>(Bytes)>& arrived);

 private:
  struct Source;
  /// `step` returns what went wrong, `moved` a figure that grows while something goes on, `heard` whether it
  /// understood what the end does not.
  struct Drive {
    std::function<std::string(Instant)> step;
    std::function<uint64_t()> moved;
    std::function<bool()> done;
    std::function<bool(const host::ControlMessage&)> heard = [](const host::ControlMessage&) { return false; };
  };
  Result<void> drive(host::MessageEnd& end, const Drive& d, LiveRow& row);
  Result<void> drive_until_report(host::MessageEnd& end, const Drive& d, LiveRow& row,
                                  host::TransferReport& out);
  Result<void> drive_until_registered(host::MessageEnd& end, const host::XferSettings& s, LiveRow& row);
  Result<void> look_around(host::MessageEnd& end, const Drive& d, Duration most, LiveRow& row);
  Result<LiveRow> send_one(const Source& source, const host::XferSettings& s, uint32_t epoch);
  Result<host::TransferOffer> next_offer();
  void unregister();
  Result<LiveRow> receive_one(const host::TransferOffer& offer, std::vector<uint8_t>& to);

  host::Nic& nic_;
  XferPeer& peer_;
  XferRegistration* registration_;
};

}  // namespace matchrdma
