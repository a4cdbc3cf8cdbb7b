// What /metrics, /healthz and /readyz say.
#include "controlplane/service/http_server.h"
#include "controlplane/service/metrics.h"

namespace matchrdma::service {
namespace {

constexpr const char* kExposition = "text/plain; version=0.0.4; charset=utf-8";

Page ready_page(const ViewPtr& view) {
  Page page;
  if (!view) {
    page.status = 503;
    page.body = "starting: nothing to show yet\n";
    return page;
  }
  if (!view->ready()) page.status = 503;
  page.body = view->ready() ? "ready\n" : "not ready\n";
  for (const Condition& c : view->conditions) {
    page.body += std::string(c.holds ? "ok   " : "WAIT ") + c.name + ": " + c.text + "\n";
  }
  return page;
}

}  // namespace

std::map<std::string, MakePage> service_pages(const ViewBoard& board) {
  std::map<std::string, MakePage> pages;
  pages["/metrics"] = [&board] {
    const ViewPtr view = board.view();
    return Page{200, kExposition, metrics_text(view.get())};
  };
  // The process lives and its web server answers. Whether it can do its work is told by /readyz.
  pages["/healthz"] = [] { return Page{200, "text/plain; charset=utf-8", "ok\n"}; };
  pages["/readyz"] = [&board] { return ready_page(board.view()); };
  return pages;
}

}  // namespace matchrdma::service
