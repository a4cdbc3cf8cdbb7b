#include "controlplane/service/http_server.h"

#include <civetweb.h>

#include <array>
#include <cstdarg>
#include <cstring>
#include <string_view>
#include <utility>

namespace matchrdma::service {
namespace {

const char* reason_phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    default:
      return "Service Unavailable";
  }
}

void send_page(mg_connection* c, const Page& page, bool with_body) {
  mg_printf(c,
            "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%s"
            "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
            page.status, reason_phrase(page.status), page.content_type.c_str(), page.body.size(),
            page.status == 405 ? "Allow: GET, HEAD\r\n" : "");
  if (with_body) mg_write(c, page.body.data(), page.body.size());
}

// All requests end here, so civetweb's own handling of files, ranges and uploads is never reached.
int on_request(mg_connection* c) {
  const mg_request_info* request = mg_get_request_info(c);
  const auto& pages = *static_cast<const std::map<std::string, MakePage>*>(request->user_data);
  const std::string_view method = request->request_method != nullptr ? request->request_method : "";
  const bool head = method == "HEAD";
  if (method != "GET" && !head) {
    send_page(c, {405, "text/plain; charset=utf-8", "only GET and HEAD\n"}, true);
    return 405;
  }
  const auto it = pages.find(request->local_uri != nullptr ? request->local_uri : "");
  if (it == pages.end()) {
    std::string body = "there is:";
    for (const auto& [path, make] : pages) body += " " + path;
    send_page(c, {404, "text/plain; charset=utf-8", body + "\n"}, !head);
    return 404;
  }
  const Page page = it->second();
  send_page(c, page, !head);
  return page.status;
}

// What civetweb would print on stderr about clients is nobody's news.
int on_log(const mg_connection*, const char*) { return 1; }

}  // namespace

struct HttpServer::Context {
  mg_context* civetweb = nullptr;
  ~Context() {
    if (civetweb != nullptr) mg_stop(civetweb);
  }
};

HttpServer::HttpServer(std::map<std::string, MakePage> pages)
    : pages_(std::move(pages)), context_(std::make_unique<Context>()) {}
HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::start(const HttpOptions& o,
                                                      std::map<std::string, MakePage> pages) {
  std::unique_ptr<HttpServer> server(new HttpServer(std::move(pages)));
  const bool v6 = o.address.find(':') != std::string::npos;
  const std::string listen = (v6 ? "[" + o.address + "]" : o.address) + ":" + std::to_string(o.port);
  const std::array options{"listening_ports", listen.c_str(),
                           // A client holds a thread until it has sent its request: slow ones must not keep
                           // health checks out. More of them at a time than threads still can.
                           "num_threads", "64", "request_timeout_ms", "1000", "enable_keep_alive", "no",
                           "enable_directory_listing", "no", "connection_queue", "64",
                           static_cast<const char*>(nullptr)};
  mg_callbacks callbacks{};
  callbacks.begin_request = on_request;
  callbacks.log_message = on_log;
  std::array<char, 256> text{};
  mg_init_data init{};
  init.callbacks = &callbacks;
  init.user_data = const_cast<std::map<std::string, MakePage>*>(&server->pages_);
  init.configuration_options = const_cast<const char**>(options.data());
  mg_error_data error{};
  error.text = text.data();
  error.text_buffer_size = text.size();
  server->context_->civetweb = mg_start2(&init, &error);
  if (server->context_->civetweb == nullptr) {
    return Error{"web server on " + listen + ": " + text.data() +
                 "; is the port in use, is it an address of this machine?"};
  }
  mg_server_port port{};
  if (mg_get_server_ports(server->context_->civetweb, 1, &port) == 1)
    server->port_ = static_cast<uint16_t>(port.port);
  return server;
}

}  // namespace matchrdma::service
