#pragma once
// The flows of a transfer, told to a proxy, so that it answers for the far end from the first packet on.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dataplane/base/time.h"
#include "host/register/proxy_client.h"
#include "host/xfer/message_end.h"

namespace matchrdma {

/// Duty: registers queue pairs as they are connected, and unregisters them once they are fenced. Data flows
/// meanwhile; what the proxy refuses is said once.
class XferRegistration {
 public:
  static Result<std::unique_ptr<XferRegistration>> make(const std::string& ip, uint16_t port,
                                                        const std::string& key_file);
  XferRegistration(const XferRegistration&) = delete;

  void tell(const std::vector<host::MessageEnd::Flow>& flows, uint32_t path_mtu, Instant now);
  void run(Instant now) { client_->run(now); }
  /// Nothing of these flows is under way any more: they are unregistered.
  void end(Instant now);
  bool ended() const { return client_->pairs() == 0; }
  /// Flows that both proxies know now, and sentences about those that they do not.
  size_t known() const { return known_; }
  std::vector<std::string> take_news() { return std::exchange(news_, {}); }

 private:
  explicit XferRegistration(std::unique_ptr<host::ProxyClient> client) : client_(std::move(client)) {}

  host::ProxyClient::Told told();

  std::unique_ptr<host::ProxyClient> client_;
  std::vector<host::ProxiedPair> pairs_;  ///< that were added and not removed
  size_t known_ = 0;
  std::vector<std::string> news_;
};

}  // namespace matchrdma
