#pragma once
// Messages over many logical connections to one peer that share one RC queue pair, with a TCP way beside it
// (HOST.md, channel; docs/host_channel.md).
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "host/channel/inbound.h"
#include "host/channel/outbound.h"
#include "host/channel/remote_atomics.h"
#include "host/control/control_message.h"

namespace matchrdma::host {

/// Duty: when a way opens, is fenced, and is left; what the two processes say to each other about it. One I/O
/// thread owns an engine and the Nic beneath it (ChannelThread). Time is an argument; control messages and pipe
/// frames are values that the caller moves. An engine ends with its peer's process: gone() says why, and
/// another one is made.
class ChannelEngine {
 public:
  static Result<std::unique_ptr<ChannelEngine>> make(const ChannelOptions& options, Nic& nic, Instant now);
  ChannelEngine(const ChannelEngine&) = delete;

  /// `data` stays until take_sent() says kReleased or kUnknown. Returns the message's number in its connection,
  /// from 0; an error: no such connection, or too long. `lkey` as for Nic::post_send().
  Result<uint64_t> send(uint32_t connection, Bytes data, uint32_t lkey) {
    return out_.send(connection, data, lkey);
  }
  /// One-way into memory that the peer opened; its arrived() counts puts whose bytes are all there.
  Result<uint64_t> put(uint32_t window, uint64_t offset, Bytes data, uint32_t lkey) {
    return out_.put(window, offset, data, lkey);
  }
  RemoteAtomics& atomics() { return atomics_; }
  std::optional<ChannelSent> take_sent() { return out_.take_sent(); }
  /// Buffers, received messages, windows.
  Inbound& in() { return in_; }
  /// Messages and puts that were not released.
  size_t under_way() const { return out_.under_way(); }

  /// A completion of this engine's queue pair.
  void on_completion(const Completion& c, Instant now);
  /// The control connection is there, to this life of the peer's process; or it is lost.
  void on_control_up(uint64_t peer_life, Instant now);
  void on_control_down() { control_up_ = false; }
  /// False: not for this engine.
  bool on_control(const ControlMessage& m, Instant now);
  std::optional<ControlMessage> take_control();
  /// The TCP way: there, or (nullptr) lost; then all that came by it was handed in before.
  void set_pipe(MessagePipe* pipe);
  void on_pipe(Bytes frame);
  /// A queue pair number of this end whose flow the proxies are to forget, with all they hold of it (rule 2).
  std::optional<uint32_t> take_unregister();

  /// Does all that is due. Call at next_wakeup() at the latest, after completions, and often.
  void poll(Instant now);
  Instant next_wakeup() const;

  /// kUp: on RDMA.
  enum class Path : uint8_t { kDown, kOffered, kAnswered, kUp, kFencing };
  Path path() const { return state_; }
  uint32_t epoch() const { return epoch_; }
  /// Why the engine has ended; empty before.
  const std::string& gone() const { return gone_; }
  /// It has ended, and every buffer is the application's again.
  bool over() const { return over_; }
  /// Of the last try to make a queue pair; empty: it went well.
  const std::string& trouble() const { return trouble_; }
  const ChannelCounters& counters() const { return n_; }

 private:
  enum class Way : uint8_t { kNone, kRdma, kPipe, kLeavingPipe };
  ChannelEngine(const ChannelOptions& options, Nic& nic, Instant now);

  void take_arrival(const RcArrival& a, Instant now);
  bool take_frame(const ChannelFrame& f, Bytes payload, Instant now);
  void open(const ChannelFrame& f, Instant now);
  void on_addresses(const PathAddresses& m, Instant now);
  void on_fence(const Fence& m, Instant now);
  void on_fenced(const Fenced& m);
  void on_resume(const Resume& m);
  void answer_fence(const Fence& m, uint8_t more);

  bool make_path(Instant now);
  void connect(const QpAddress& peer);
  void step_path(Instant now);
  void watch(Instant now);
  void start_fence(Instant now);
  void skip_fence(Instant now);
  void step_fence(Instant now);
  void step_way(Instant now);
  void work();
  void step_end();
  void keep_alive(Instant now);
  void end(const std::string& why);
  uint32_t pipe_path() const { return options_.first_path + 1; }
  uint32_t atomics_stream() const { return options_.connections + options_.windows; }

  ChannelOptions options_;
  ChannelCounters n_;
  Nic& nic_;
  RcPath path_;
  Outbound out_;
  Inbound in_;
  RemoteAtomics atomics_;

  Path state_ = Path::kDown;
  uint32_t epoch_ = 0;
  QpAddress address_;
  Instant since_;     ///< of kOffered and kAnswered
  Instant retry_at_;  ///< kDown
  uint64_t progress_ = 0;
  Instant moved_at_;
  // kFencing.
  bool fence_said_ = false, fence_asked_ = false, fence_answered_ = false, peer_fenced_ = false,
       settled_ = false;
  uint64_t effects_ = 0;          ///< SENDs and WRITEs with immediate that took effect in this epoch
  uint64_t atomics_logged_ = 0;   ///< the peer's, here
  uint64_t atomics_at_peer_ = 0;  ///< ours, as it says

  Way way_ = Way::kNone;
  Instant up_until_;  ///< RDMA was
  MessagePipe* pipe_ = nullptr;
  uint32_t turn_ = 0;
  bool leave_said_ = false;
  std::vector<uint64_t> pipe_told_;  ///< by connection: taken below, said on this pipe

  bool control_up_ = false;
  uint64_t life_ = 0;
  uint64_t pings_ = 0;
  Instant heard_, ping_at_;
  std::deque<ControlMessage> control_;
  std::deque<uint32_t> unregister_;
  std::string gone_, trouble_;
  bool over_ = false;
};

}  // namespace matchrdma::host
