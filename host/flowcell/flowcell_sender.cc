#include "host/flowcell/flowcell_sender.h"

#include <algorithm>
#include <utility>

#include "dataplane/base/check.h"
#include "host/flowcell/flowcell_message.h"

namespace matchrdma::host {
namespace {

constexpr size_t kMostNews = 256;
constexpr uint64_t kMostCell = uint64_t{1} << 31;  // bytes: no request is longer
constexpr Duration kLeastLook = Duration::micros(1), kMostLook = Duration::micros(200);

}  // namespace

FlowcellSender::FlowcellSender(const FlowcellOptions& options) : options_(options) {
  for (uint32_t i = 0; i < options.shape.paths; ++i)
    paths_.push_back({.meter = PathMeter(options.rate, options.round_trip)});
}

FlowcellSender::~FlowcellSender() = default;

FlowcellSender::Message* FlowcellSender::find(uint64_t number) {
  const auto it = messages_.find(number);
  return it == messages_.end() ? nullptr : it->second.get();
}

uint64_t FlowcellSender::send(Bytes data, uint32_t lkey) {
  MRDMA_CHECK(!data.empty());
  auto m = std::make_unique<Message>();
  m->number = next_message_++;
  m->data = data;
  m->lkey = lkey;
  const uint64_t number = m->number;
  if (data.size() > most_cells() * (kMostCell / options_.shape.path_mtu * options_.shape.path_mtu)) {
    sent_.push_back({number, "a message of " + std::to_string(data.size()) + " bytes is more than " +
                                 std::to_string(most_cells()) +
                                 " cells of 2 GiB: choose a layout with more bits for the index"});
    return number;
  }
  messages_[number] = std::move(m);
  if (const auto g = grants_.extract(number)) on_grant(g.mapped());
  return number;
}

bool FlowcellSender::on_grant(const CellGrant& g) {
  Message* m = find(g.message);
  if ((m != nullptr && m->grant) || !confirm_slot(g.slot)) return false;
  if (m == nullptr) return g.message < next_message_ || keep_grant(g);
  if (m->data.size() > g.length) {
    sent_.push_back({m->number, "a message of " + std::to_string(m->data.size()) + " bytes met a buffer of " +
                                    std::to_string(g.length) + ": post longer buffers, or send less"});
    messages_.erase(g.message);
    return true;
  }
  m->grant = g;
  waiting_bytes_ += m->data.size();
  return true;
}

// Of a message to come. The receiver has no more of them under way than slots.
bool FlowcellSender::keep_grant(const CellGrant& g) {
  const bool taken = std::any_of(grants_.begin(), grants_.end(),
                                 [&g](const auto& each) { return each.second.slot == g.slot; });
  return !taken && grants_.emplace(g.message, g).second;
}

std::optional<FlowcellSent> FlowcellSender::take_sent() {
  if (sent_.empty()) return {};
  FlowcellSent s = std::move(sent_.front());
  sent_.pop_front();
  return s;
}

// ---- what comes back

void FlowcellSender::tell(const Path& p, PathNews::What what, Instant now) {
  if (news_.size() >= kMostNews) news_.erase(news_.begin());
  news_.push_back({now, static_cast<uint32_t>(&p - paths_.data()), what, now - p.progress});
}

void FlowcellSender::confirm(Path& p, const TrackedCell& c, Instant now) {
  if (c.probe) {
    if (p.state != PathState::kProbing) return;
    p.state = PathState::kGood;
    return tell(p, PathNews::What::kRejoined, now);
  }
  Message& m = *find(c.ref.message);  // it is not released while a copy is out
  confirm(m, c.ref.cell);
}

void FlowcellSender::confirm(Message& m, uint32_t cell) {
  if (std::exchange(m.cells[cell].confirmed, true)) return;
  ++m.confirmed;
  confirmed_bytes_ += m.cell(cell).size();
}

bool FlowcellSender::confirm_all(Message& m) {
  if (m.cells.empty() || m.next_new < m.cells.size()) return false;
  for (uint32_t i = 0; i < m.cells.size(); ++i) confirm(m, i);
  release_if_done(m);
  return true;
}

// A slot is granted again when its message is there: nothing of that one may be posted behind the plan of the
// next, in whose place its own would stand. Older ones that had the slot are here while a path holds a copy.
bool FlowcellSender::confirm_slot(uint32_t slot) {
  for (auto it = messages_.begin(); it != messages_.end();) {
    Message& m = *(it++)->second;
    if (m.grant && m.grant->slot == slot && !confirm_all(m)) return false;
  }
  return true;
}

// This copy is neither under way nor read by the NIC any more.
void FlowcellSender::let_go(const TrackedCell& c) {
  if (c.probe) return;
  Message& m = *find(c.ref.message);
  Message::Cell& cell = m.cells[c.ref.cell];
  --cell.copies;
  --m.copies;
  // It was not sent again when this path fell silent, for there was another copy; that one is gone by now, too.
  if (!cell.confirmed && cell.copies == 0 && !cell.queued) {
    cell.queued = true;
    again_.push_front(c.ref);
  }
  release_if_done(m);
}

void FlowcellSender::release_if_done(const Message& m) {
  if (m.copies != 0 || m.confirmed != m.cells.size()) return;
  sent_.push_back({m.number});
  messages_.erase(m.number);
}

bool FlowcellSender::take_tokens(Path& p, Instant now) {
  while (const auto t = p.queue->next_token()) {
    ++n_.tokens;
    if (t->tails - p.tracking.confirmed() > p.tracking.size()) return false;
    const Instant arrived = now - t->residence;
    uint64_t bytes = 0;
    while (p.tracking.confirmed() != t->tails) {
      const TrackedCell c = p.tracking.pop();
      bytes += c.bytes;
      if (p.tracking.confirmed() == t->tails && !c.duplicate) p.meter.sample(arrived - c.posted, c.bytes);
      confirm(p, c, now);
      p.leaving.push_back(c);
    }
    if (bytes > 0) p.meter.came(bytes, arrived);
    p.progress = now;
    if (p.state == PathState::kSuspect) {
      p.state = PathState::kGood;
      tell(p, PathNews::What::kAnswered, now);
    }
    if (p.tracking.empty()) p.meter.restart();
  }
  for (; !p.leaving.empty() && p.leaving.front().request <= p.queue->completed(); p.leaving.pop_front())
    let_go(p.leaving.front());
  return true;
}

bool FlowcellSender::path_fenced(uint32_t path, uint64_t tails, Instant now) {
  Path& p = paths_[path];
  const uint32_t more = static_cast<uint32_t>(tails) - p.tracking.confirmed();  // both count round
  if (tails > UINT32_MAX || more > p.tracking.size()) return false;
  const std::vector<TrackedCell> out(p.tracking.begin(), p.tracking.end());
  for (uint32_t n = 0; n < more; ++n) confirm(p, out[n], now);
  for (auto c = out.rbegin(); c != out.rend(); ++c) let_go(*c);  // the oldest comes to stand first
  for (; !p.leaving.empty(); p.leaving.pop_front()) let_go(p.leaving.front());
  tell(p, PathNews::What::kFenced, now);
  p.queue = nullptr;
  p.tracking = {};
  p.again_at = Instant::never();
  return true;
}

// ---- all that is due

bool FlowcellSender::poll(Instant now) {
  for (Path& p : paths_) {
    if (p.state == PathState::kDown) {
      if (p.again_at > now) continue;
      p.again_at = Instant::never();
      send_again(p);
      continue;
    }
    if (!take_tokens(p, now)) return false;
    look_for_silence(p, now);
  }
  schedule(now);
  return true;
}

Instant FlowcellSender::next_wakeup(Instant now) const {
  Instant at = Instant::never();
  for (const Path& p : paths_) {
    at = earlier(at, p.again_at);
    if (p.state == PathState::kDown || (p.tracking.empty() && p.leaving.empty())) continue;
    // Tokens come into memory without a completion: they have to be looked for.
    const Duration look{std::clamp(p.meter.base().ns / 64, kLeastLook.ns, kMostLook.ns)};
    at = earlier(at, now + look);
  }
  return at;
}

FlowcellSender::PathView FlowcellSender::view(uint32_t path) const {
  const Path& p = paths_[path];
  return {p.state, p.meter.rate(), p.meter.round_trip(), p.tracking.in_flight(), p.cells};
}

}  // namespace matchrdma::host
