#pragma once
// The one web server of the daemon: metrics, health, and whatever page is added to it.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "controlplane/service/view_board.h"
#include "dataplane/base/result.h"

namespace matchrdma::service {

struct HttpOptions {
  std::string address = "127.0.0.1";  ///< IPv4 or IPv6 address to listen on
  uint16_t port = 9464;               ///< 0: any, see port()
};

struct Page {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};
/// Runs in a thread of the web server: may read views and nothing else of the daemon.
using MakePage = std::function<Page()>;

/// Duty: answers GET and HEAD of the pages it was given, with threads of its own. Reads nothing from disk
/// and takes nothing in. Knows no view.
class HttpServer {
 public:
  /// Every page stands in `pages` by its path ("/metrics").
  static Result<std::unique_ptr<HttpServer>> start(const HttpOptions& options,
                                                   std::map<std::string, MakePage> pages);
  ~HttpServer();
  uint16_t port() const { return port_; }

 private:
  struct Context;
  explicit HttpServer(std::map<std::string, MakePage> pages);

  const std::map<std::string, MakePage> pages_;
  std::unique_ptr<Context> context_;
  uint16_t port_ = 0;
};

/// /metrics, /healthz and /readyz of what hangs on the board, which must outlive the server.
std::map<std::string, MakePage> service_pages(const ViewBoard& board);

}  // namespace matchrdma::service
