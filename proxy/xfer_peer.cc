#include "proxy/xfer_peer.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <utility>

namespace matchrdma {
namespace {

constexpr Duration kPatience = Duration::seconds(60);  // for an answer that needs no more than memory
constexpr Duration kFarewell = Duration::seconds(2);
constexpr Duration kLook = Duration::millis(100);

volatile std::sig_atomic_t g_interrupted = 0;

void sleep_on(int fd, short events, Duration most) {
  pollfd p{fd, events, 0};
  const timespec t{most.ns / 1'000'000'000, most.ns % 1'000'000'000};
  ::ppoll(&p, fd < 0 ? 0 : 1, &t, nullptr);
}

host::LinkOptions link_options(const host::ControlHello& hello) {
  host::LinkOptions o;
  o.hello = hello;
  return o;
}

}  // namespace

Instant clock_now() {
  return {std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count()};
}

void catch_interrupts() {
  struct sigaction a {};
  a.sa_handler = [](int) { g_interrupted = 1; };
  a.sa_flags = static_cast<int>(SA_RESETHAND);  // a second one ends it at once
  for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &a, nullptr);
}

bool interrupted() { return g_interrupted != 0; }

Result<std::unique_ptr<XferPeer>> XferPeer::connect(const std::string& ip, uint16_t port,
                                                    const std::string& key_file,
                                                    const host::ControlHello& hello) {
  auto key = TlsPskClient::load(key_file, "");
  if (!key) return Error{key.error()};
  auto link = host::ControlLink::connect(ip, port, std::make_shared<TlsPskClient>(std::move(*key)),
                                         link_options(hello), clock_now());
  if (!link) return Error{link.error()};
  std::unique_ptr<XferPeer> peer(new XferPeer(std::move(*link)));
  if (auto r = peer->open(); !r) return Error{r.error()};
  return peer;
}

// Who has not the key is no end of the wait: scanners knock at open ports.
Result<std::unique_ptr<XferPeer>> XferPeer::wait(const std::string& ip, uint16_t port,
                                                 const std::string& key_file, const host::ControlHello& hello) {
  auto keys = TlsPskServer::load(key_file);
  if (!keys) return Error{keys.error()};
  const auto shared = std::make_shared<const TlsPskServer>(std::move(*keys));
  auto listener = host::ControlListener::open(ip, port, shared, link_options(hello));
  if (!listener) return Error{listener.error()};
  while (!interrupted()) {
    sleep_on(listener->fd(), POLLIN, kLook);
    auto link = listener->accept(clock_now());
    if (!link) continue;
    std::unique_ptr<XferPeer> peer(new XferPeer(std::move(link)));
    peer->server_ = shared;
    const auto opened = peer->open();
    if (opened) return peer;
    std::fprintf(stderr, "matchrdma-xfer: refused: %s\n", opened.error().c_str());
  }
  return Error{"interrupted before anybody came"};
}

Result<void> XferPeer::open() {
  while (!link_->open()) {
    if (auto r = going(); !r) return r;
    turn(kLook);
  }
  return {};
}

XferPeer::~XferPeer() {
  if (link_->session() != nullptr)
    link_->session()->end(interrupted() ? "interrupted" : farewell_, clock_now());
  for (const Instant end = clock_now() + kFarewell; !link_->over() && clock_now() < end;) turn(kLook);
}

void XferPeer::turn(Duration most) {
  const Instant now = clock_now(), due = link_->next_wakeup();
  if (most.ns > 0 && due > now && !link_->over())
    sleep_on(link_->fd(), link_->events(), Duration{std::min(most.ns, (due - now).ns)});
  link_->run(clock_now());
}

bool XferPeer::has_room() const {
  return link_->session() != nullptr &&
         link_->session()->output().size() < host::ControlSession::kOutputLimit / 4;
}

Result<void> XferPeer::say(const host::ControlMessage& m) {
  if (auto r = going(); !r) return r;
  if (link_->session()->send(m, clock_now())) return {};
  return Error{"the control connection takes no more"};
}

std::optional<host::ControlMessage> XferPeer::next() {
  return link_->session() == nullptr ? std::nullopt : link_->session()->next();
}

Result<host::ControlMessage> XferPeer::hear_any(const std::string& what) {
  for (const Instant end = clock_now() + kPatience;;) {
    if (auto m = next()) return std::move(*m);
    if (auto r = going(); !r) return Error{r.error()};
    if (clock_now() > end) return Error{"the other end has not sent " + what + " within a minute"};
    turn(kLook);
  }
}

Result<void> XferPeer::going() const {
  if (interrupted()) return Error{"interrupted"};
  if (link_->over()) return Error{link_->reason()};
  return {};
}

}  // namespace matchrdma
