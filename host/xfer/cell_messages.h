#pragma once
// Flowcell as a transfer sees it.
#include "host/flowcell/flowcell_end.h"
#include "host/xfer/message_end.h"

namespace matchrdma::host {

/// Duty: a FlowcellEnd, and its news in words.
class CellMessages final : public MessageEnd {
 public:
  static Result<std::unique_ptr<CellMessages>> make(const FlowcellOptions& options, Nic& nic, Instant now);

  Result<uint64_t> send(Bytes data, uint32_t lkey) override { return end_->sender().send(data, lkey); }
  std::optional<MessageSent> take_sent() override;
  size_t sending() const override { return end_->sender().under_way(); }
  Result<std::optional<uint64_t>> receive_post(MutableBytes buffer, Instant) override {
    return end_->receive_post(buffer);
  }
  std::optional<MessageReceived> take_received() override;
  std::vector<ControlMessage> take_control() override { return end_->take_control(); }
  bool on_control(const ControlMessage& m, Instant now) override { return end_->on_control(m, now); }
  size_t poll(Instant now) override { return end_->poll(now); }
  Instant next_wakeup(Instant now) const override { return end_->next_wakeup(now); }
  std::string error() const override { return end_->error(); }
  EndFigures figures() const override;
  std::vector<std::string> take_news() override;
  std::vector<Flow> take_flows() override;

 private:
  CellMessages(std::unique_ptr<FlowcellEnd> end, Instant now) : end_(std::move(end)), began_(now) {}
  std::unique_ptr<FlowcellEnd> end_;
  Instant began_;
};

}  // namespace matchrdma::host
