#include "controlplane/service/line_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <string>
#include <utility>

namespace matchrdma::service {
namespace {

short events_of(std::span<const pollfd> polled, int fd) {
  const auto it = std::find_if(polled.begin(), polled.end(), [fd](const pollfd& p) { return p.fd == fd; });
  return it == polled.end() ? short{0} : it->revents;
}

/// The address without its port; nothing for a Unix socket.
std::string address_of(const sockaddr_storage& from) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* address = nullptr;
  if (from.ss_family == AF_INET) address = &reinterpret_cast<const sockaddr_in&>(from).sin_addr;
  if (from.ss_family == AF_INET6) address = &reinterpret_cast<const sockaddr_in6&>(from).sin6_addr;
  if (address == nullptr || ::inet_ntop(from.ss_family, address, text.data(), text.size()) == nullptr)
    return "";
  return text.data();
}

}  // namespace

LineServer::LineServer(FileDescriptor listener, MakeStream make, Rights rights, const LineServerLimits& limits,
                       Commands& commands)
    : listener_(std::move(listener)),
      make_(std::move(make)),
      rights_(rights),
      limits_(limits),
      commands_(&commands),
      accepts_left_(limits.accepts_per_second) {}

void LineServer::fds(std::vector<pollfd>& out, Instant now) const {
  if (may_accept(now)) out.push_back({listener_.get(), POLLIN, 0});
  for (const LineSession& s : sessions_) out.push_back({s.fd(), s.events(), 0});
}

void LineServer::on_ready(std::span<const pollfd> polled, Instant now) {
  for (LineSession& s : sessions_) {
    s.run(*commands_, events_of(polled, s.fd()), now);
    if (s.over() && !s.trusted()) ++n_.untrusted;
  }
  std::erase_if(sessions_, [](const LineSession& s) { return s.over(); });
  // After the sessions: a descriptor that was closed and given out again is not taken for the old one.
  if (events_of(polled, listener_.get()) != 0) accept_some(now);
}

Instant LineServer::next_wakeup() const {
  Instant at = Instant::never();
  for (const LineSession& s : sessions_) at = earlier(at, s.next_wakeup());
  if (accepts_left_ <= 0) at = earlier(at, second_ends_);
  return at;
}

bool LineServer::send_away(std::vector<LineSession>::iterator session) {
  if (session == sessions_.end()) return false;
  if (!session->trusted()) ++n_.untrusted;
  sessions_.erase(session);
  return true;
}

bool LineServer::make_room() {
  if (limits_.stranger_gives_way) {
    std::map<std::string, size_t> of_address;
    for (const LineSession& s : sessions_)
      if (!s.trusted()) ++of_address[s.address()];
    // The first of these is the oldest: sessions stand in the order in which they came.
    auto given = sessions_.end();
    for (auto s = sessions_.begin(); s != sessions_.end(); ++s) {
      if (s->trusted()) continue;
      if (given == sessions_.end() || of_address[s->address()] > of_address[given->address()]) given = s;
    }
    return send_away(given);
  }
  if (!limits_.idle_gives_way) return false;
  const auto longest =
      std::min_element(sessions_.begin(), sessions_.end(), [](const LineSession& a, const LineSession& b) {
        return a.resting() != b.resting() ? a.resting() : a.progress() < b.progress();
      });
  return longest != sessions_.end() && longest->resting() && send_away(longest);
}

void LineServer::accept_some(Instant now) {
  if (now >= second_ends_) {
    second_ends_ = now + Duration::seconds(1);
    accepts_left_ = limits_.accepts_per_second;
  }
  while (accepts_left_ > 0) {
    sockaddr_storage from{};
    socklen_t size = sizeof from;
    FileDescriptor fd(
        ::accept4(listener_.get(), reinterpret_cast<sockaddr*>(&from), &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd.valid()) {
      // Out of descriptors: poll() would say so again at once, for ever.
      if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) accepts_left_ = 0;
      return;
    }
    --accepts_left_;
    if (sessions_.size() >= limits_.max_clients && !make_room()) {
      ++n_.turned_away;
      continue;
    }
    std::unique_ptr<Stream> stream = make_(std::move(fd));
    if (!stream) continue;
    ++n_.accepted;
    sessions_.emplace_back(std::move(stream), address_of(from), rights_, limits_.session, now);
  }
}

}  // namespace matchrdma::service
