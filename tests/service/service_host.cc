// The service room around a daemon that is none, for the scripts beside it. Prints its ports as one JSON line,
// then obeys lines on stdin ("ready", "not-ready", "starting", "rounds N", "flows N") and ends with stdin, so
// that it never outlives its test.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <sstream>

#include "controlplane/service/http_server.h"
#include "controlplane/service/listeners.h"
#include "controlplane/service/test_daemon.h"

namespace {

using namespace matchrdma;
using namespace matchrdma::service;

Instant now() {
  using std::chrono::steady_clock;
  return {std::chrono::nanoseconds(steady_clock::now().time_since_epoch()).count()};
}

template <typename T>
T or_die(Result<T> r) {
  if (r) return std::move(*r);
  std::cerr << r.error() << '\n';
  std::exit(1);
}

struct Host {
  TestDaemon daemon;
  ViewBoard board;
  uint32_t flows = 4;
  bool ready = true;

  void publish() {
    const auto v = test_view(flows);
    if (!ready) v->conditions[1] = {"peer north", false, "no answer from 192.0.2.2; is its daemon running?"};
    board.publish(v);
  }
  void obey(const std::string& line) {
    std::istringstream in(line);
    std::string word;
    in >> word;
    if (word == "starting") return board.publish(nullptr);
    if (word == "rounds") {
      daemon.asked.clear();
      in >> daemon.rounds;
    }
    if (word == "flows") in >> flows;
    if (word == "ready" || word == "not-ready") ready = word == "ready";
    publish();
  }
};

/// False when stdin has ended.
bool obey_stdin(Host& host, std::string& rest) {
  std::array<char, 256> buffer;
  const ssize_t n = ::read(STDIN_FILENO, buffer.data(), buffer.size());
  if (n <= 0) return false;
  rest.append(buffer.data(), static_cast<size_t>(n));
  for (size_t end; (end = rest.find('\n')) != std::string::npos; rest.erase(0, end + 1)) {
    host.obey(rest.substr(0, end));
    std::cout << "ok" << std::endl;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: service_host ADMIN-SOCKET PSK-FILE\n";
    return 2;
  }
  Host host;
  host.publish();
  Commands commands(host.daemon, host.board);
  AdminSocketOptions admin_options;
  admin_options.path = argv[1];
  RegisterListenerOptions tls_options;
  tls_options.psk_file = argv[2];
  tls_options.port = 0;
  tls_options.limits.session.patience = Duration::seconds(2);
  const auto admin = or_die(open_admin_socket(admin_options, commands));
  const auto tls = or_die(open_register_listener(tls_options, commands));
  const auto http = or_die(HttpServer::start({"127.0.0.1", 0}, service_pages(host.board)));
  std::cout << "{\"http\":" << http->port() << ",\"tls\":" << port_of(*tls) << "}" << std::endl;
  std::string rest;
  for (bool running = true; running;) {
    std::vector<pollfd> fds{{STDIN_FILENO, POLLIN, 0}};
    admin->fds(fds, now());
    tls->fds(fds, now());
    const Instant wakeup = earlier(admin->next_wakeup(), tls->next_wakeup());
    const int64_t wait_ms =
        wakeup.is_never() ? 1000 : std::clamp<int64_t>((wakeup - now()).ns / 1'000'000 + 1, 0, 1000);
    ::poll(fds.data(), fds.size(), static_cast<int>(wait_ms));
    admin->on_ready(fds, now());
    tls->on_ready(fds, now());
    if (fds[0].revents != 0) running = obey_stdin(host, rest);
  }
  remove_admin_socket(admin_options.path);
  return 0;
}
