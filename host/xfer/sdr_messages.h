#pragma once
// SDR as a transfer sees it.
#include "host/sdr/endpoint.h"
#include "host/xfer/message_end.h"

namespace matchrdma::host {

/// Duty: an SdrEndpoint that brings its addresses to the peer by itself.
class SdrMessages final : public MessageEnd {
 public:
  static Result<std::unique_ptr<SdrMessages>> make(const SdrOptions& options, Nic& nic, Instant now);

  /// Where nobody carries control messages, the addresses go by themselves.
  SdrEndpoint::Addresses addresses() const { return end_->addresses(); }
  Result<void> connect(const SdrEndpoint::Addresses& peer);

  Result<uint64_t> send(Bytes data, uint32_t lkey) override { return end_->sender().send(data, lkey); }
  std::optional<MessageSent> take_sent() override;
  size_t sending() const override { return end_->sender().under_way(); }
  Result<std::optional<uint64_t>> receive_post(MutableBytes buffer, Instant now) override;
  std::optional<MessageReceived> take_received() override;
  std::vector<ControlMessage> take_control() override { return std::exchange(control_, {}); }
  bool on_control(const ControlMessage& m, Instant now) override;
  size_t poll(Instant now) override { return connected_ ? end_->poll(now) : 0; }
  Instant next_wakeup(Instant) const override { return connected_ ? end_->next_wakeup() : Instant::never(); }
  std::string error() const override;
  EndFigures figures() const override;

 private:
  SdrMessages(const SdrOptions& options, std::unique_ptr<SdrEndpoint> end);

  SdrOptions options_;
  std::unique_ptr<SdrEndpoint> end_;
  std::vector<ControlMessage> control_;
  bool connected_ = false;
  std::string refused_;
};

}  // namespace matchrdma::host
