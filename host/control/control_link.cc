#include "host/control/control_link.h"

#include <netdb.h>
#include <poll.h>

#include <array>
#include <utility>

#include "controlplane/tls/tcp_connect.h"

namespace matchrdma::host {
namespace {

constexpr int kBacklog = 64;
constexpr size_t kChunk = 16 << 10;
constexpr int kChunksPerRun = 64;  ///< other descriptors of the loop come in between

std::string name_of(SocketAddress a) {
  std::array<char, NI_MAXHOST> ip{};
  std::array<char, NI_MAXSERV> port{};
  const int flags = NI_NUMERICHOST | NI_NUMERICSERV;
  if (::getnameinfo(a.generic(), a.size, ip.data(), ip.size(), port.data(), port.size(), flags) != 0)
    return "somebody";
  return std::string(ip.data()) + " port " + port.data();
}

}  // namespace

ControlLink::ControlLink(std::string who, const LinkOptions& options, Instant now)
    : who_(std::move(who)), options_(options), open_ends_(now + options.open) {}
ControlLink::~ControlLink() = default;

Result<std::unique_ptr<ControlLink>> ControlLink::connect(const std::string& ip, uint16_t port,
                                                          std::shared_ptr<const TlsPskClient> key,
                                                          const LinkOptions& options, Instant now) {
  auto address = socket_address(ip, port);
  if (!address) return Error{"control connection: \"" + ip + "\" is not an IP address"};
  std::unique_ptr<ControlLink> link(new ControlLink(named_address(ip, port), options, now));
  link->client_ = std::move(key);
  auto fd = begin_connect(*address);
  if (fd) {
    link->connecting_ = std::move(*fd);
  } else {
    link->finish(fd.error());
  }
  return link;
}

int ControlLink::fd() const { return stream_ ? stream_->fd() : connecting_.get(); }

short ControlLink::events() const {
  switch (step_) {
    case Step::kConnecting:
      return POLLOUT;
    case Step::kHandshake:
      return stream_->also_wants();
    case Step::kTalking: {
      int wanted = stream_->also_wants();
      if (session_->wants_input() || session_->state() == ControlSession::State::kEnding) wanted |= POLLIN;
      if (!session_->output().empty()) wanted |= POLLOUT;
      return static_cast<short>(wanted);
    }
    case Step::kOver:
      break;
  }
  return 0;
}

Instant ControlLink::next_wakeup() const {
  if (step_ == Step::kOver) return Instant::never();
  if (step_ != Step::kTalking) return open_ends_;
  // What TLS has taken from the socket already, poll() does not see.
  if (stream_->buffered() && session_->wants_input()) return Instant{INT64_MIN};
  return session_->next_wakeup();
}

void ControlLink::run(Instant now) {
  if (step_ == Step::kConnecting) connected();
  if (step_ == Step::kHandshake || step_ == Step::kTalking) read_some(now);
  if (step_ == Step::kTalking) {
    session_->advance(now);
    write_some();
  }
  if (step_ == Step::kTalking && session_->state() == ControlSession::State::kOver) finish(session_->reason());
  if ((step_ == Step::kConnecting || step_ == Step::kHandshake) && now >= open_ends_) {
    finish(step_ == Step::kConnecting ? no_answer_in_time()
                                      : "the other end took the connection, but has not shown a key in time");
  }
}

void ControlLink::connected() {
  const auto result = connect_result(connecting_.get());
  if (!result) return;
  if (!*result) return finish(result->error());
  stream_ = client_->stream(std::move(connecting_));
  if (!stream_) return finish("memory is short");
  step_ = Step::kHandshake;
}

void ControlLink::read_some(Instant now) {
  std::array<char, kChunk> buffer;
  for (int i = 0; i < kChunksPerRun; ++i) {
    const bool ending = session_ && session_->state() == ControlSession::State::kEnding;
    if (session_ && !session_->wants_input() && !ending) return;
    const Moved m = stream_->read(buffer);
    if (!session_ && stream_->trusted()) {
      session_.emplace(options_.hello, options_.times, now);
      step_ = Step::kTalking;
    }
    if (m.kind == Moved::Kind::kClosed) return closed();
    if (m.kind == Moved::Kind::kWait) return;
    // After our good-bye too: closing with bytes unread would make TCP forget those that have not arrived.
    session_->receive({reinterpret_cast<const uint8_t*>(buffer.data()), m.bytes}, now);
    if (session_->state() == ControlSession::State::kOver) return;
  }
}

void ControlLink::write_some() {
  while (!session_->output().empty()) {
    const Bytes out = session_->output();
    const Moved m = stream_->write({reinterpret_cast<const char*>(out.data()), out.size()});
    if (m.kind == Moved::Kind::kClosed) return closed();
    if (m.kind == Moved::Kind::kWait) return;
    session_->sent(m.bytes);
  }
}

void ControlLink::closed() {
  if (session_)
    return session_->lost("the other end closed the connection without a word: its process is gone");
  finish(closed_untrusted(*stream_, client_.get()));
}

void ControlLink::finish(const std::string& why) {
  reason_ = "control connection with " + who_ + ": " + why;
  step_ = Step::kOver;
  stream_.reset();
  connecting_ = FileDescriptor();
}

Result<ControlListener> ControlListener::open(const std::string& ip, uint16_t port,
                                              std::shared_ptr<const TlsPskServer> keys,
                                              const LinkOptions& options) {
  const auto address = socket_address(ip, port);
  if (!address) return Error{"control listener: \"" + ip + "\" is not an IP address"};
  auto fd = listen_at(*address, kBacklog);
  if (!fd) return Error{"control listener " + named_address(ip, port) + ": " + fd.error()};
  return ControlListener(std::move(*fd), std::move(keys), options);
}

std::unique_ptr<ControlLink> ControlListener::accept(Instant now) {
  SocketAddress from;
  from.size = sizeof from.storage;
  FileDescriptor fd(::accept4(fd_.get(), from.generic(), &from.size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!fd.valid()) return nullptr;
  send_at_once(fd.get());
  std::unique_ptr<ControlLink> link(new ControlLink(name_of(from), options_, now));
  link->server_ = keys_;
  link->stream_ = keys_->stream(std::move(fd));
  link->step_ = ControlLink::Step::kHandshake;
  if (!link->stream_) link->finish("memory is short");
  return link;
}

}  // namespace matchrdma::host
