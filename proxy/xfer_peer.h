#pragma once
// The control connection of a live transfer, for a program with one thread and one peer.
#include <memory>
#include <optional>
#include <string>

#include "host/control/control_link.h"

namespace matchrdma {

/// The monotonic clock.
Instant clock_now();
/// Ctrl-C and SIGTERM are noticed from now on instead of ending the process.
void catch_interrupts();
bool interrupted();

/// Duty: meets the other end, carries messages, and says why there is no going on: the peer, or Ctrl-C. Does
/// not know what is said.
class XferPeer {
 public:
  /// Waits for one connection; Ctrl-C ends that with an error.
  static Result<std::unique_ptr<XferPeer>> wait(const std::string& ip, uint16_t port,
                                                const std::string& key_file, const host::ControlHello& hello);
  static Result<std::unique_ptr<XferPeer>> connect(const std::string& ip, uint16_t port,
                                                   const std::string& key_file,
                                                   const host::ControlHello& hello);
  /// Says good-bye where nobody has yet, and waits a little for the other end to close.
  ~XferPeer();

  const host::ControlHello& hello() const { return link_->session()->peer(); }
  /// Does what is due and sleeps until something happens here, at most so long.
  void turn(Duration most);
  Result<void> say(const host::ControlMessage& m);
  /// What was said before has mostly left.
  bool has_room() const;
  /// What the peer said next, if anything.
  std::optional<host::ControlMessage> next();
  /// What the peer says next; an error when that is something else, or nothing within a minute.
  template <class T>
  Result<T> hear(const std::string& what) {
    auto m = hear_any(what);
    if (!m) return Error{m.error()};
    if (T* t = std::get_if<T>(&*m)) return std::move(*t);
    return Error{"the other end says something else in place of " + what};
  }
  Result<host::ControlMessage> hear_any(const std::string& what);
  /// An error: over, or Ctrl-C.
  Result<void> going() const;
  /// The peer has said good-bye, and not because of a fault.
  bool said_good_bye() const { return link_->over() && link_->orderly(); }
  /// The sentence of the destructor's good-bye.
  void will_end(const std::string& why) { farewell_ = why; }

 private:
  explicit XferPeer(std::unique_ptr<host::ControlLink> link) : link_(std::move(link)) {}
  Result<void> open();

  std::unique_ptr<host::ControlLink> link_;
  std::shared_ptr<const TlsPskServer> server_;  ///< outlives the link's stream
  std::string farewell_ = "the transfer has failed here";
};

}  // namespace matchrdma
