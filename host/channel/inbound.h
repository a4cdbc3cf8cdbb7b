#pragma once
// The receiving half of an engine: where messages go, when the application gets them, what has been received.
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/channel/message_pipe.h"
#include "host/channel/rc_path.h"

namespace matchrdma::host {

/// A whole message. It stands in a buffer that the application posted, or in `owned`.
struct ChannelReceived {
  uint32_t connection = 0;
  uint64_t message = 0;
  MutableBytes data{};
  std::optional<uint64_t> buffer{};  ///< the number of the posted buffer
  std::vector<uint8_t> owned{};
};

/// Duty: rules 2 and 3 of HOST.md at the receiver: a key ends before the application gets its buffer; after an
/// error of the queue pair no buffer is used again before it is drained. Does not know which way is open.
class Inbound {
 public:
  Inbound(const ChannelOptions& options, Nic& nic, ChannelCounters& n) : options_(options), nic_(nic), n_(n) {}
  ~Inbound();
  Inbound(const Inbound&) = delete;

  /// For a message of this connection that fits. Without one that fits the library provides memory, unless
  /// wait_for_buffers() was said.
  void post_receive(uint32_t connection, MutableBytes buffer, uint64_t number);
  /// Large messages of this connection wait for a posted buffer.
  void wait_for_buffers(uint32_t connection) { stream(connection).waits = true; }
  /// Each message of this connection takes the buffer of its own number alone, and waits for it. One that is
  /// longer than its buffer is trouble().
  void bind_buffers(uint32_t connection) { stream(connection).waits = stream(connection).bound = true; }
  /// Why the engine has to end; empty: it has not.
  const std::string& trouble() const { return trouble_; }
  std::optional<ChannelReceived> take_received();

  void open_window(uint32_t window, MutableBytes memory);
  /// Puts whose bytes are all there.
  uint64_t arrived(uint32_t window) const;
  /// The application is through with all puts below: their places may be written again.
  void release_puts(uint32_t window, uint64_t below);

  // What comes. False: a right peer does not say that.
  bool on_small(const ChannelFrame& f, Bytes payload);
  bool on_request(const ChannelFrame& f);
  bool on_last(uint32_t connection);
  bool on_pipe(const ChannelFrame& f, Bytes payload);

  /// A new queue pair is open: windows get new keys and are announced.
  void begin();
  /// The queue pair is drained: keys end, what was under way goes back to before its beginning.
  void fence(RcPath& path);
  /// No frame of this turn of the TCP way or of one before it counts any more.
  void close_turn(uint32_t turn);
  /// `each(stream, below)`: what has been received.
  template <class Each>
  void each_received(Each&& each) const {
    for (const auto& [id, s] : streams_) each(id, s.received);
    for (const auto& [id, w] : windows_) each(options_.connections + id, w.arrived);
  }
  /// `each(stream, below)`: what the application has taken.
  template <class Each>
  void each_taken(Each&& each) const {
    for (const auto& [id, s] : streams_) each(id, s.taken);
  }

  /// Reads the counters of puts; the peer is to be told what was taken.
  void look(RcPath& path);
  void work(RcPath& path);

 private:
  struct Buffer {
    MutableBytes bytes{};
    std::optional<uint64_t> number{};
    std::vector<uint8_t> owned{};
  };
  struct Message {
    uint64_t number = 0, length = 0, filled = 0;
    bool granted = false;
    Buffer buffer{};
    std::optional<Region> region{};
  };
  struct Stream {
    std::deque<Message> announced;  ///< large ones that are not there
    std::deque<Buffer> posted;
    bool waits = false, bound = false;
    std::optional<Message> on_pipe;
    uint64_t received = 0, taken = 0;
  };
  struct Window {
    MutableBytes memory;
    std::optional<Region> region;
    bool announced = false;
    uint64_t arrived = 0, released = 0;
  };
  Stream& stream(uint32_t id);
  std::optional<Buffer> buffer_for(Stream& s, const Message& m, bool may_wait);
  std::deque<Buffer>::iterator posted_for(Stream& s, uint64_t message, uint64_t length);
  bool fits(const Buffer& b, uint64_t message, uint64_t length);
  bool in_place(ChannelReceived& r);
  void give_back(Stream& s, Message& m);
  void deliver(uint32_t id, Stream& s, Message m);
  void grant(uint32_t id, Stream& s, RcPath& path);
  void announce(uint32_t id, Window& w, RcPath& path);

  const ChannelOptions& options_;
  Nic& nic_;
  ChannelCounters& n_;
  std::map<uint32_t, Stream> streams_;
  std::map<uint32_t, Window> windows_;
  std::deque<ChannelReceived> received_;
  std::vector<uint32_t> taken_;  ///< connections of which the peer is to be told
  uint32_t pipe_turn_ = 0, closed_turn_ = 0;
  std::string trouble_;
};

}  // namespace matchrdma::host
