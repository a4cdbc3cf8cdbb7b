#include "host/flowcell/flowcell_sender.h"

#include <algorithm>
#include <utility>

#include "dataplane/base/check.h"

namespace matchrdma::host {
namespace {

constexpr int64_t kDeadAfter = 4;  // times T_soft
constexpr size_t kMostNews = 256;
constexpr uint64_t kCellsEach = 4;                 // of a message, on each path
constexpr uint64_t kMostCell = uint64_t{1} << 31;  // bytes: no request is longer
constexpr Duration kProbe = Duration::seconds(1);
constexpr Duration kLeastLook = Duration::micros(1), kMostLook = Duration::micros(200);

}  // namespace

struct FlowcellSender::Message {
  struct Cell {
    bool confirmed = false, queued = false;
    uint32_t copies = 0;  ///< that paths carry, or that a NIC still reads
  };
  uint64_t number = 0;
  Bytes data;
  uint32_t lkey = 0;
  std::optional<CellGrant> grant;
  uint32_t cell_bytes = 0;
  std::vector<Cell> cells;
  uint32_t next_new = 0, confirmed = 0;
  uint64_t copies = 0;  ///< of all cells
  Bytes cell(uint32_t i) const {
    const uint64_t at = uint64_t{i} * cell_bytes;
    return data.subspan(at, std::min<uint64_t>(cell_bytes, data.size() - at));
  }
};

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

// ---- silence

// Before all that is new (HOST.md H12). A third copy is not made: one that comes when its message is there
// costs a queue pair, and the fence will tell soon what has come.
void FlowcellSender::send_again(const Path& p) {
  std::deque<CellRef> mine;
  for (const TrackedCell& c : p.tracking) {
    if (c.probe) continue;
    Message::Cell& cell = find(c.ref.message)->cells[c.ref.cell];
    if (cell.confirmed || cell.queued || cell.copies > 1) continue;
    cell.queued = true;
    mine.push_back(c.ref);
  }
  again_.insert(again_.begin(), mine.begin(), mine.end());
}

// What comes behind a lost packet makes the peer's NIC ask for it (IBA 9.7.5.2.8) long before the timer of ours
// ends.
void FlowcellSender::probe(Path& p, Instant now) {
  if (!p.queue->room(p.tracking.size())) return;
  const ImmediateLayout& l = options_.shape.layout;
  ++n_.probes;
  p.probed = now;
  const uint64_t request = p.queue->post_probe(l.pack({0, (1u << l.index_bits) - 1, 0}));
  p.tracking.posted({.posted = now, .request = request, .duplicate = true, .probe = true});
}

void FlowcellSender::look_for_silence(Path& p, Instant now) {
  const bool silent = p.state == PathState::kSuspect || p.state == PathState::kProbing;
  if (silent && now - p.probed > soft_timeout(p)) probe(p, now);
  if (p.state != PathState::kGood || p.tracking.empty() || now - p.progress <= soft_timeout(p)) return;
  ++n_.suspected;
  tell(p, PathNews::What::kSuspected, now);
  p.state = PathState::kSuspect;
  p.dead_at = now + soft_timeout(p) * (kDeadAfter - 1);
  p.meter.restart();
  probe(p, now);
  send_again(p);
}

std::optional<uint32_t> FlowcellSender::dead_path(Instant now) const {
  for (uint32_t i = 0; i < paths_.size(); ++i) {
    const Path& p = paths_[i];
    const bool waits = p.state == PathState::kSuspect || p.state == PathState::kProbing;
    if (waits && !p.tracking.empty() && now > p.dead_at) return i;
  }
  return {};
}

void FlowcellSender::path_down(uint32_t path, Instant now) {
  Path& p = paths_[path];
  if (p.state == PathState::kDown) return;
  ++n_.failed;
  tell(p, PathNews::What::kFailed, now);
  p.again_at = p.state == PathState::kSuspect ? Instant::never() : now + soft_timeout(p);
  p.state = PathState::kDown;
  p.meter.restart();
}

void FlowcellSender::path_up(uint32_t path, CellQueue& queue, Instant now, bool rebuilt) {
  Path& p = paths_[path];
  p.queue = &queue;
  p.progress = now;
  p.state = rebuilt ? PathState::kProbing : PathState::kGood;
  if (!rebuilt) return;
  // The probe may have to wait for its NIC's timer; nothing waits for the probe.
  p.dead_at = now + std::max(soft_timeout(p) * kDeadAfter, kProbe);
  probe(p, now);
}

// ---- scheduling

// Of all cells that wait, the next; those of silent paths first. It stays where it is until it is posted.
std::optional<FlowcellSender::Work> FlowcellSender::next_work() {
  for (; !again_.empty(); again_.pop_front()) {
    Message* m = find(again_.front().message);
    if (m != nullptr && !m->cells[again_.front().cell].confirmed) return Work{m, again_.front().cell, true};
    if (m != nullptr) m->cells[again_.front().cell].queued = false;
  }
  for (auto& [number, m] : messages_) {
    if (!m->grant) return {};  // grants come in order
    if (m->cells.empty()) give_cell_size(*m);
    if (m->next_new < m->cells.size()) return Work{m.get(), m->next_new, false};
  }
  return {};
}

// The highest number is the probe's (HOST.md H13).
uint32_t FlowcellSender::most_cells() const { return (1u << options_.shape.layout.index_bits) - 1; }

// All cells of a message are of one length, so that the receiver can count them: that of the fastest path. The
// last ones must not leave most paths idle: there are several for each.
void FlowcellSender::give_cell_size(Message& m) {
  const FlowcellShape& s = options_.shape;
  const auto fastest = std::max_element(paths_.begin(), paths_.end(), [](const Path& a, const Path& b) {
    return a.meter.rate() < b.meter.rate();
  });
  const Duration base = fastest->meter.base();
  const uint64_t most =
      std::clamp(m.data.size() / (kCellsEach * paths_.size()), options_.least_cell, options_.most_cell);
  const uint64_t wanted = cell_size(bytes_in(options_.rate, base), bytes_in(fastest->meter.rate(), base),
                                    s.path_mtu, options_.least_cell, most);
  const uint64_t least = cells_of(cells_of(m.data.size(), most_cells()), s.path_mtu) * s.path_mtu;
  const uint64_t size = std::max(wanted, least);
  m.cell_bytes = static_cast<uint32_t>(size);
  m.cells.resize(cells_of(m.data.size(), size));
}

double FlowcellSender::total_rate() const {
  double bps = 0;
  for (const Path& p : paths_)
    if (p.state == PathState::kGood) bps += static_cast<double>(p.meter.rate().bps);
  return std::max(bps, 1.0);
}

// The path with the least expected completion that has room. One that needs longer than half of what may be
// sent takes on all paths together holds up its message, and at last the grants: a better one is waited for.
FlowcellSender::Path* FlowcellSender::choose(uint32_t bytes, Instant now) {
  Path* best = nullptr;
  Duration soonest{INT64_MAX}, first{INT64_MAX};
  for (Path& p : paths_) {
    if (p.state != PathState::kGood) continue;
    const Duration e = p.meter.expected(p.tracking.in_flight(), bytes);
    first = std::min(first, e);
    const bool open = p.queue->room(p.tracking.size()) &&
                      (p.tracking.empty() || p.tracking.in_flight() + bytes <= p.meter.window(bytes));
    if (open && e < soonest) {
      soonest = e;
      best = &p;
    }
  }
  if (best == nullptr) return nullptr;
  const auto all = Duration{static_cast<int64_t>(8e9 * static_cast<double>(waiting_bytes_) / total_rate())};
  if (soonest > first + all / 2) return nullptr;
  if (best->tracking.empty()) best->progress = now;
  return best;
}

void FlowcellSender::post(Path& p, const Work& w, Instant now) {
  Message& m = *w.message;
  Message::Cell& cell = m.cells[w.cell];
  const Bytes data = m.cell(w.cell);
  const ImmediateLayout& l = options_.shape.layout;
  const uint64_t request =
      p.queue->post_cell({.data = data,
                          .lkey = m.lkey,
                          .remote = m.grant->remote + uint64_t{w.cell} * m.cell_bytes,
                          .rkey = m.grant->rkey,
                          .immediate = l.pack({m.grant->slot, w.cell, static_cast<uint32_t>(m.number)}),
                          .slot = m.grant->slot,
                          .plan = {m.number, m.data.size(), m.cell_bytes}});
  p.tracking.posted({{m.number, w.cell}, static_cast<uint32_t>(data.size()), now, request, w.again, false});
  ++p.cells;
  ++n_.cells;
  n_.duplicates += w.again;
  ++cell.copies;
  ++m.copies;
  if (w.again) {
    cell.queued = false;
    again_.pop_front();
  } else {
    ++m.next_new;
    waiting_bytes_ -= data.size();
  }
}

void FlowcellSender::schedule(Instant now) {
  while (const auto work = next_work()) {
    Path* const p = choose(static_cast<uint32_t>(work->message->cell(work->cell).size()), now);
    if (p == nullptr) return;
    post(*p, *work, now);
  }
}

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
