#include "host/xfer/cell_messages.h"

#include <algorithm>
#include <utility>

#include "host/xfer/news.h"

namespace matchrdma::host {
namespace {

std::string sentence(const PathNews& n, Instant began) {
  const std::string path = milliseconds(n.at - began) + ": path " + std::to_string(n.path);
  switch (n.what) {
    case PathNews::What::kSuspected:
      return path + " is suspected after " + milliseconds(n.silent) +
             " of silence; its cells go other ways, too";
    case PathNews::What::kAnswered:
      return path + " answers again";
    case PathNews::What::kFailed:
      return path + " has failed after " + milliseconds(n.silent) + " of silence; it is fenced";
    case PathNews::What::kFenced:
      return path + " is fenced; it is being rebuilt";
    case PathNews::What::kRejoined:
      break;
  }
  return path + " has been rebuilt";
}

}  // namespace

Result<std::unique_ptr<CellMessages>> CellMessages::make(const FlowcellOptions& options, Nic& nic,
                                                         Instant now) {
  auto end = FlowcellEnd::make(options, nic, now);
  if (!end) return Error{end.error()};
  return std::unique_ptr<CellMessages>(new CellMessages(std::move(*end), now));
}

std::optional<MessageSent> CellMessages::take_sent() {
  auto s = end_->sender().take_sent();
  if (!s) return {};
  return MessageSent{s->message, std::move(s->error)};
}

std::optional<MessageReceived> CellMessages::take_received() {
  const auto r = end_->take_received();
  if (!r) return {};
  return MessageReceived{r->message, r->length, 0};
}

EndFigures CellMessages::figures() const {
  const FlowcellSenderCounters& sent = end_->sender().counters();
  const FlowcellReceiverCounters& got = end_->receiver().counters();
  EndFigures f;
  f.packets = sent.cells;
  f.resent = sent.duplicates;
  f.duplicates = got.duplicates;
  f.stale = got.stale;
  f.arrived = got.cells;
  for (uint32_t p = 0; p < end_->paths(); ++p)
    f.round_trip = std::max(f.round_trip, end_->sender().view(p).round_trip);
  return f;
}

std::vector<std::string> CellMessages::take_news() {
  std::vector<std::string> all;
  for (const PathNews& n : end_->sender().take_news()) all.push_back(sentence(n, began_));
  return all;
}

std::vector<MessageEnd::Flow> CellMessages::take_flows() {
  std::vector<Flow> all;
  for (const FlowcellFlow& f : end_->take_connected()) all.push_back({f.local, f.remote, false});
  for (const FlowcellFlow& f : end_->take_fenced()) all.push_back({f.local, f.remote, true});
  return all;
}

}  // namespace matchrdma::host
