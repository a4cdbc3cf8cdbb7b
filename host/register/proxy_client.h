#pragma once
// The pairs that a proxy shall know, kept known: registered, renewed, unregistered (HOST.md C13).
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "host/register/pair_request.h"
#include "host/register/proxy_line.h"

namespace matchrdma::host {

struct ProxyClientOptions {
  std::string ip;  ///< of the proxy's registration listener (docs/admin.md)
  uint16_t port = kRegisterPort;
  /// Registers again so often: the lease goes on, and a proxy that was restarted knows again. A fraction of its
  /// registration_lease (1 h unless configured).
  Duration renew = Duration::seconds(120);
  Duration again = Duration::millis(200);  ///< between two looks whether both proxies are done
  Duration answer = Duration::seconds(5);  ///< TCP, TLS and each answer may take so long
  Duration retry = Duration::seconds(1), most_retry = Duration::seconds(30);  ///< after a failure: doubled
  Duration linger = Duration::seconds(2);  ///< an idle connection is closed: the listener takes 64 clients
};

struct PairOutcome {
  ProxiedPair pair;
  bool remove = false;
  bool done = false;  ///< at both proxies
  std::string why{};  ///< where it is not
};

/// Duty: one proxy. Asks for each pair until both proxies have done it, and again before its lease ends. What
/// fails is told once and goes on being tried; data flows meanwhile as without a proxy's custody. Poll fd() for
/// events() until next_wakeup(), then call run(), whatever poll() said. No thread, no clock; no call waits.
class ProxyClient {
 public:
  using Told = std::function<void(const PairOutcome&)>;

  /// An error: no IP address.
  static Result<std::unique_ptr<ProxyClient>> make(const ProxyClientOptions& options,
                                                   std::shared_ptr<const TlsPskClient> key);
  ~ProxyClient();

  /// `told` hears what becomes of it: once, and again when that changes; from run(), and may not call this
  /// object. Names the same pair as before: takes its place.
  void add(const ProxiedPair& pair, Told told, Instant now);
  /// Told when it is done or refused, and forgotten then. Of a pair that was never added, too. Its queue pair
  /// has to be fenced by now (HOST.md rule 2).
  void remove(const ProxiedPair& pair, Told told, Instant now);
  /// No longer renewed: the lease ends it.
  void forget(const ProxiedPair& pair);
  size_t pairs() const { return wanted_.size(); }

  int fd() const { return line_ ? line_->fd() : -1; }
  short events() const { return line_ ? line_->events() : short{0}; }
  Instant next_wakeup() const;
  void run(Instant now);

 private:
  struct Wanted {
    ProxiedPair pair;
    bool remove = false;
    Told told;
    Instant due;
    bool was_told = false, was_done = false;
    std::string last_why{};
  };
  ProxyClient(const ProxyClientOptions& options, SocketAddress address,
              std::shared_ptr<const TlsPskClient> key);
  Wanted* find(const ProxiedPair& pair);
  Wanted* most_due();
  void take_answer(const std::string& answer, Instant now);
  void failed(const std::string& why, Instant now);
  void tell(Wanted& w, bool done, const std::string& why);

  ProxyClientOptions options_;
  SocketAddress address_;
  std::shared_ptr<const TlsPskClient> key_;
  std::deque<Wanted> wanted_;
  std::unique_ptr<ProxyLine> line_;
  ProxiedPair asked_;  ///< what the line waits for
  bool asked_remove_ = false;
  Duration pause_;
  Instant may_connect_{}, line_used_{};
};

}  // namespace matchrdma::host
