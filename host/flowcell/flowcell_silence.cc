// When a path counts as silent, and as dead; what becomes of the cells that it carries (HOST.md H9, H12).
#include <algorithm>
#include <utility>

#include "host/flowcell/flowcell_message.h"

namespace matchrdma::host {
namespace {

constexpr int64_t kDeadAfter = 4;  // times T_soft
constexpr Duration kProbe = Duration::seconds(1);

}  // namespace

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
  const uint64_t request = p.queue->post_probe(l.pack({0, l.last_index(), 0}));
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

}  // namespace matchrdma::host
