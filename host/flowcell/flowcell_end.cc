#include "host/flowcell/flowcell_end.h"

#include <algorithm>
#include <utility>

namespace matchrdma::host {
namespace {

constexpr size_t kCompletions = 256;
// A path that fails again soon after it was built waits longer each time.
constexpr Duration kLeastPause = Duration::millis(1), kMostPause = Duration::seconds(1);

}  // namespace

FlowcellEnd::FlowcellEnd(const FlowcellOptions& options, Nic& nic)
    : options_(options),
      nic_(nic),
      sender_(options),
      receiver_(options.shape, nic),
      paths_(options.shape.paths) {
  completions_.resize(kCompletions);
}

FlowcellEnd::~FlowcellEnd() = default;

Result<std::unique_ptr<FlowcellEnd>> FlowcellEnd::make(const FlowcellOptions& o, Nic& nic, Instant now) {
  if (auto r = check(o); !r) return Error{"flowcell: " + r.error()};
  std::unique_ptr<FlowcellEnd> e(new FlowcellEnd(o, nic));
  for (uint32_t i = 0; i < o.shape.paths; ++i) {
    e->paths_[i].up_at = now;
    if (auto r = e->open(i); !r) return Error{"flowcell " + r.error()};
  }
  return e;
}

Result<void> FlowcellEnd::open(uint32_t path) {
  Path& p = paths_[path];
  auto queue = CellQueue::open(options_, nic_, path, p.epoch + 1);
  if (!queue) return Error{queue.error()};
  p.queue = std::move(*queue);
  ++p.epoch;
  p.connected = p.peer_ready = p.up = p.failed = p.fence_heard = p.fence_answered = false;
  p.peer_fenced.reset();
  p.tokens_for = 0;
  if (p.peer && p.peer->epoch != p.epoch) p.peer.reset();
  control_.emplace_back(p.queue->address());
  return {};
}

Result<std::optional<uint64_t>> FlowcellEnd::receive_post(MutableBytes buffer) {
  auto grant = receiver_.receive_post(buffer);
  if (!grant) return Error{grant.error()};
  if (!*grant) return std::optional<uint64_t>();
  control_.emplace_back(**grant);
  return std::optional((*grant)->message);
}

void FlowcellEnd::broken(std::string why) {
  if (error_.empty()) error_ = std::move(why);
}

bool FlowcellEnd::agrees(const CellPathOpen& peer) {
  const FlowcellShape& s = options_.shape;
  if (peer.path < paths_.size() && peer.paths == s.paths && peer.path_mtu == s.path_mtu &&
      peer.slots == s.slots && peer.ring == s.ring && peer.layout == s.layout)
    return true;
  broken("flowcell: the two ends were made with different options (" + std::to_string(s.paths) +
         " paths of MTU " + std::to_string(s.path_mtu) + " here, " + std::to_string(peer.paths) + " of " +
         std::to_string(peer.path_mtu) + " there; or slots, ring or layout): give both the same");
  return false;
}

void FlowcellEnd::connect(uint32_t path, Instant now) {
  Path& p = paths_[path];
  if (!p.queue || p.failed || p.connected || !p.peer || p.peer->epoch != p.epoch) return;
  if (auto r = p.queue->connect(*p.peer); !r) return broken("flowcell: " + r.error());
  p.connected = true;
  control_.emplace_back(CellPathReady{path, p.epoch});
  go(path, now);
}

// The first epoch is good at once: its first cells are its probe. A rebuilt path shows itself first.
void FlowcellEnd::go(uint32_t path, Instant now) {
  Path& p = paths_[path];
  if (!p.connected || !p.peer_ready || p.failed || std::exchange(p.up, true)) return;
  p.up_at = now;
  p.flow = {path, p.epoch, p.queue->address().address, p.peer->address};
  connected_.push_back(p.flow);
  sender_.path_up(path, *p.queue, now, p.epoch > 1);
}

bool FlowcellEnd::on_control(const ControlMessage& m, Instant now) {
  if (const auto* open = std::get_if<CellPathOpen>(&m)) {
    if (!agrees(*open)) return true;
    paths_[open->path].peer = *open;
    connect(open->path, now);
  } else if (const auto* ready = std::get_if<CellPathReady>(&m)) {
    if (ready->path >= paths_.size() || ready->epoch != paths_[ready->path].epoch) return true;
    paths_[ready->path].peer_ready = true;
    go(ready->path, now);
  } else if (const auto* grant = std::get_if<CellGrant>(&m)) {
    if (grant->slot >= options_.shape.slots || !sender_.on_grant(*grant))
      broken("flowcell: the peer grants slot " + std::to_string(grant->slot) + " to message " +
             std::to_string(grant->message) +
             (grant->slot >= options_.shape.slots ? ": it is beyond the last"
                                                  : ": it is being filled, or the message has a buffer"));
  } else if (const auto* fence = std::get_if<Fence>(&m)) {
    if (fence->path >= paths_.size() || fence->epoch != paths_[fence->path].epoch) return true;
    paths_[fence->path].fence_heard = true;
    fail(fence->path, now);
  } else if (const auto* fenced = std::get_if<Fenced>(&m)) {
    if (fenced->path < paths_.size() && fenced->epoch == paths_[fenced->path].epoch)
      paths_[fenced->path].peer_fenced = fenced->received;
  } else {
    return false;
  }
  return true;
}

// Both directions of the queue pair end, so both ends fence.
void FlowcellEnd::fail(uint32_t path, Instant now) {
  Path& p = paths_[path];
  if (!p.queue || std::exchange(p.failed, true)) return;
  const bool lasted =
      p.up && sender_.view(path).state != FlowcellSender::PathState::kProbing && now - p.up_at > kMostPause;
  p.queue->fail();
  sender_.path_down(path, now);
  control_.emplace_back(Fence{path, p.epoch});
  p.pause = lasted ? kLeastPause : std::clamp(p.pause * 2, kLeastPause, kMostPause);
  p.open_at = now + p.pause;
}

void FlowcellEnd::end_fence(uint32_t path, Instant now) {
  Path& p = paths_[path];
  if (p.queue && p.failed && p.queue->drained()) {
    if (p.fence_heard && !std::exchange(p.fence_answered, true))
      control_.emplace_back(Fenced{path, p.epoch, p.queue->tails(), {}});
    if (p.fence_answered && p.peer_fenced) {
      if (p.up) {
        fenced_.push_back(p.flow);
        if (!sender_.path_fenced(path, *p.peer_fenced, now))
          broken("flowcell: the peer says that " + std::to_string(*p.peer_fenced) + " cells came by path " +
                 std::to_string(path) + ", which is not so");
      }
      p.queue.reset();
    }
  }
  if (p.queue || p.open_at > now) return;
  if (auto r = open(path); !r) return broken("flowcell " + r.error());
  connect(path, now);
}

void FlowcellEnd::take(const Completion& c, Instant now) {
  const auto p = std::find_if(paths_.begin(), paths_.end(),
                              [&c](const Path& each) { return each.queue && each.queue->qp() == c.qp; });
  if (p == paths_.end()) return;
  const auto path = static_cast<uint32_t>(p - paths_.begin());
  if (p->queue->take(c)) {
    p->tail_at = now;
    const auto slot = receiver_.slot_of(c.immediate);
    if (auto r = receiver_.on_tail(c.immediate, slot ? p->queue->plan(*slot) : CellPlan{}); !r)
      broken("flowcell: " + r.error());
  }
  if (c.status != Completion::Status::kOk) fail(path, now);
}

void FlowcellEnd::say_tokens(Instant now) {
  for (Path& p : paths_) {
    if (!p.queue || p.failed || p.queue->tails() == p.tokens_for) continue;
    if (p.queue->post_token(now - p.tail_at)) p.tokens_for = p.queue->tails();
  }
}

size_t FlowcellEnd::poll(Instant now) {
  size_t n, all = 0;
  do {
    n = nic_.poll(completions_);
    all += n;
    for (size_t i = 0; i < n; ++i) take(completions_[i], now);
    for (Path& p : paths_)
      if (p.queue && p.connected) p.queue->repost();
  } while (n == completions_.size());
  say_tokens(now);
  const uint64_t tokens = sender_.counters().tokens;
  if (!sender_.poll(now)) broken("flowcell: the peer confirms cells that were never sent");
  while (const auto dead = sender_.dead_path(now)) fail(*dead, now);
  for (uint32_t i = 0; i < paths_.size(); ++i) end_fence(i, now);
  return all + (sender_.counters().tokens - tokens);
}

Instant FlowcellEnd::next_wakeup(Instant now) const {
  Instant at = sender_.next_wakeup(now);
  for (const Path& p : paths_)
    if (!p.queue) at = earlier(at, p.open_at);
  return at;
}

}  // namespace matchrdma::host
