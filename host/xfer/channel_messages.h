#pragma once
// A connection of a channel as a transfer sees it.
#include "host/channel/channel_thread.h"
#include "host/xfer/message_end.h"

namespace matchrdma::host {

/// Duty: one connection of an engine of its own. Without RDMA its messages go over the caller's control
/// connection.
class ChannelMessages final : public MessageEnd {
 public:
  static Result<std::unique_ptr<ChannelMessages>> make(const ChannelOptions& options, Nic& nic, Instant now);
  ~ChannelMessages() override;

  Result<uint64_t> send(Bytes data, uint32_t lkey) override { return engine_->send(kConnection, data, lkey); }
  std::optional<MessageSent> take_sent() override;
  size_t sending() const override { return engine_->under_way(); }
  Result<std::optional<uint64_t>> receive_post(MutableBytes buffer, Instant now) override;
  std::optional<MessageReceived> take_received() override;
  void on_peer(uint64_t life, Instant now) override;
  std::vector<ControlMessage> take_control() override;
  bool on_control(const ControlMessage& m, Instant now) override;
  size_t poll(Instant now) override;
  Instant next_wakeup(Instant) const override { return thread_.next_wakeup(); }
  std::string error() const override { return engine_->gone(); }
  EndFigures figures() const override;
  std::vector<std::string> take_news() override { return std::exchange(news_, {}); }

 private:
  static constexpr uint32_t kConnection = 0;
  /// Frames wait here until the caller takes them.
  class Pipe final : public MessagePipe {
   public:
    bool write(Bytes frame) override;
    std::vector<ControlMessage> frames;
  };
  ChannelMessages(const ChannelOptions& options, std::unique_ptr<ChannelEngine> engine, Nic& nic, Instant now);
  void look_for_news(Instant now);

  ChannelOptions options_;
  std::unique_ptr<ChannelEngine> engine_;
  ChannelThread thread_;
  Pipe pipe_;
  uint64_t posted_ = 0, received_ = 0;
  Instant began_, fell_back_;
  uint64_t fallbacks_ = 0, returns_ = 0;
  std::vector<std::string> news_;
};

}  // namespace matchrdma::host
