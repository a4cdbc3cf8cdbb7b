#pragma once
// The sending half of an engine: messages of many streams, whose turn it is, what is to be sent again.
#include <deque>
#include <map>
#include <optional>

#include "host/channel/message_pipe.h"
#include "host/channel/rc_path.h"

namespace matchrdma::host {

/// What became of a message or a put.
struct ChannelSent {
  /// kSent: it has left this NIC, or was taken over by a proxy: no more than that (C1). kReleased: the peer's
  /// application has it, the buffer is the caller's again. kUnknown: the peer is gone; so is the buffer's duty.
  enum class What : uint8_t { kSent, kReleased, kUnknown };
  What what = What::kSent;
  bool put = false;
  uint32_t id = 0;  ///< connection or window
  uint64_t message = 0;
};

/// Duty: rules 1 and 2 of HOST.md at the sender; at most one fragment of a stream per turn. A message goes
/// whole by one way. Does not know which way is open.
class Outbound {
 public:
  Outbound(const ChannelOptions& options, ChannelCounters& n) : options_(options), n_(n) {}

  Result<uint64_t> send(uint32_t connection, Bytes data, uint32_t lkey);
  Result<uint64_t> put(uint32_t window, uint64_t offset, Bytes data, uint32_t lkey);
  std::optional<ChannelSent> take_sent();
  size_t under_way() const { return under_way_; }

  // What the peer says. False: a right one does not.
  bool on_response(const ChannelFrame& f);
  bool on_window(const ChannelFrame& f);
  /// Its application has all below.
  bool on_taken(uint32_t stream, uint64_t below);
  /// It has received all below; said by RESUME.
  bool on_resume(uint32_t stream, uint64_t below);
  /// A request of the queue pair is done.
  void on_done(const RequestNote& note);

  /// On another way, from what the peer has on.
  void begin();
  /// On a new queue pair; the peer announces its windows again.
  void close_windows();
  /// The NIC has nothing of any message any more.
  void leave_nic();
  /// ChannelFaults::no_fence.
  void release_all_posted();
  /// The peer is gone.
  void give_up();

  void look(RcPath& path);
  void work(RcPath& path);
  void work(MessagePipe& pipe, uint32_t turn);

 private:
  struct Message {
    uint64_t number = 0;
    Bytes data{};
    uint32_t lkey = 0;
    uint64_t offset = 0;  ///< of a put
    uint64_t posted = 0;  ///< bytes
    bool begun = false, requested = false, granted = false, in_nic = false, told_sent = false;
    uint64_t remote = 0;
    uint32_t rkey = 0;
  };
  struct Stream {
    uint32_t id = 0;
    std::deque<Message> messages;  ///< not released
    uint64_t next = 0;             ///< number of the next new one
    uint64_t received = 0, taken = 0;
    uint64_t cursor = 0;     ///< all below have been posted to their end on this way
    uint64_t announced = 0;  ///< all below need no request on this way any more
    bool queued = false;
    std::optional<ChannelFrame> window;
    bool window_open = false;  ///< announced on this way
    Message* find(uint64_t number);
    bool quiet() const { return messages.empty(); }
  };
  enum class Turn : uint8_t { kDone, kNothing, kLater };  ///< kLater: the engine has no room

  bool is_window(uint32_t stream) const { return stream >= options_.connections; }
  bool small(const Message& m) const { return m.data.size() <= options_.small_bytes; }
  Stream& stream(uint32_t id);
  Stream* known(uint32_t id);
  uint64_t add(uint32_t id, Message m);
  void queue(Stream& s);
  void release(Stream& s);
  void tell(const Stream& s, Message& m, ChannelSent::What what);
  void end_message(Stream& s, Message& m);
  Message* at_cursor(Stream& s);
  template <class Each>
  void turns(Each&& each);
  Turn turn(Stream& s, RcPath& path);
  Turn announce(Stream& s, RcPath& path);
  Turn small_turn(Stream& s, Message& m, RcPath& path);
  Turn large_turn(Stream& s, Message& m, RcPath& path);
  Turn put_turn(Stream& s, Message& m, RcPath& path);
  Turn pipe_turn(Stream& s, MessagePipe& pipe, uint32_t number);

  const ChannelOptions& options_;
  ChannelCounters& n_;
  std::map<uint32_t, Stream> streams_;
  std::deque<uint32_t> turns_;  ///< streams that may have something to post
  std::deque<ChannelSent> sent_;
  size_t under_way_ = 0;
  std::vector<uint8_t> frame_;
};

}  // namespace matchrdma::host
