// How long cells are, and which path takes the next one.
#include <algorithm>
#include <utility>

#include "host/fabric/bytes_in.h"
#include "host/flowcell/cell_size.h"
#include "host/flowcell/flowcell_message.h"

namespace matchrdma::host {
namespace {

constexpr uint64_t kCellsEach = 4;  // of a message, on each path

}  // namespace

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
uint32_t FlowcellSender::most_cells() const { return options_.shape.layout.last_index(); }

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

}  // namespace matchrdma::host
