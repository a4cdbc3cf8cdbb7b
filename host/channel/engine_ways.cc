// How an engine makes, fences and changes its ways. RDMA is fenced by FENCE(path, epoch) in both directions at
// once; the TCP way by FENCE(path + 1, turn), each direction for itself. RESUMEs before FENCED say what has
// been received.
#include <utility>

#include "host/channel/channel_engine.h"

namespace matchrdma::host {
namespace {

// Detail of FENCED: this end has no queue pair of that epoch, never had or any more, and so asks for no answer
// itself.
constexpr uint8_t kNothingToFence = 1;

}  // namespace

// ---- what the peer says about ways

void ChannelEngine::on_addresses(const PathAddresses& m, Instant now) {
  for (const PathAddress& a : m.all) {
    if (a.path != options_.first_path) continue;
    if (options_.offers) {
      if (state_ == Path::kOffered && a.epoch == epoch_) connect(a.address);
      continue;
    }
    if (a.epoch <= epoch_) continue;
    if (options_.faults.no_fence && state_ != Path::kDown) skip_fence(now);
    if (state_ != Path::kDown) continue;
    epoch_ = a.epoch;
    if (!make_path(now)) continue;
    state_ = Path::kAnswered;
    connect(a.address);
    control_.emplace_back(PathAddresses{{{options_.first_path, epoch_, Transport::kRc, address_}}});
  }
}

void ChannelEngine::on_fence(const Fence& m, Instant now) {
  if (m.path == pipe_path()) {
    in_.close_turn(m.epoch);
    return answer_fence(m, 0);
  }
  const bool current = m.epoch == epoch_ && state_ != Path::kDown;
  if (!current) return answer_fence(m, kNothingToFence);
  if (options_.faults.sender_only_fence) {
    skip_fence(now);
    return answer_fence(m, kNothingToFence);
  }
  start_fence(now);
  fence_asked_ = true;
  fence_answered_ = false;
}

void ChannelEngine::answer_fence(const Fence& m, uint8_t more) {
  const auto say = [this](uint32_t stream, uint64_t below) {
    if (below > 0) control_.emplace_back(Resume{options_.first_stream + stream, below});
  };
  in_.each_received(say);
  say(atomics_stream(), atomics_logged_);
  control_.emplace_back(Fenced{m.path, m.epoch, effects_, {more}});
}

void ChannelEngine::on_fenced(const Fenced& m) {
  if (m.path == pipe_path()) {
    if (way_ == Way::kLeavingPipe && m.epoch == turn_) way_ = Way::kNone;
  } else if (state_ == Path::kFencing && m.epoch == epoch_) {
    peer_fenced_ = true;
    fence_answered_ |= m.detail == std::vector<uint8_t>{kNothingToFence};
  }
}

// ---- the RC path

// A new queue pair with a number and a first PSN of its own, at both ends (C3).
bool ChannelEngine::make_path(Instant now) {
  auto made = path_.make(epoch_);
  trouble_ = made ? "" : made.error();
  since_ = now;
  effects_ = 0;
  fence_said_ = fence_asked_ = fence_answered_ = peer_fenced_ = settled_ = false;
  if (!made) {
    path_.fail();
    path_.end();
    return false;
  }
  address_ = *made;
  return true;
}

void ChannelEngine::connect(const QpAddress& peer) {
  if (auto r = path_.connect(peer); !r) {
    trouble_ = r.error();
    return;
  }
  if (options_.offers) path_.say_open();
}

void ChannelEngine::step_path(Instant now) {
  if (state_ == Path::kFencing) return step_fence(now);
  if (state_ == Path::kDown) {
    if (!options_.offers || !control_up_ || now < retry_at_) return;
    ++epoch_;
    retry_at_ = now + options_.retry_after;
    if (!make_path(now)) return;
    state_ = Path::kOffered;
    control_.emplace_back(PathAddresses{{{options_.first_path, epoch_, Transport::kRc, address_}}});
    return;
  }
  if (path_.broken()) {
    ++n_.path_errors;
    if (options_.faults.no_fence) return skip_fence(now);
    return start_fence(now);
  }
  watch(now);
}

// Behind a proxy a dead path has no errors: what shows it is that the peer's counters stand still.
void ChannelEngine::watch(Instant now) {
  if (state_ != Path::kUp) {
    if (now - since_ <= options_.offer_patience) return;
    ++n_.offers_failed;
    return start_fence(now);
  }
  if (!path_.busy() || std::exchange(progress_, path_.progress()) != path_.progress()) moved_at_ = now;
  if (now - moved_at_ <= options_.path_patience) return;
  ++n_.path_stalls;
  start_fence(now);
}

void ChannelEngine::start_fence(Instant now) {
  if (state_ == Path::kFencing || state_ == Path::kDown) return;
  ++n_.fences;
  state_ = Path::kFencing;
  since_ = now;
  path_.fail();
  unregister_.push_back(address_.qpn);
}

void ChannelEngine::step_fence(Instant now) {
  if (!fence_said_ && control_up_) {
    control_.emplace_back(Fence{options_.first_path, epoch_});
    fence_said_ = true;
  }
  if (!settled_ && path_.drained()) {
    atomics_logged_ = std::max(atomics_logged_, path_.counter(path_.places().atomics()));
    in_.fence(path_);
    settled_ = true;
  }
  if (settled_ && fence_asked_ && !fence_answered_ && control_up_) {
    answer_fence({options_.first_path, epoch_}, 0);
    fence_answered_ = true;
  }
  if (!settled_ || !peer_fenced_ || !fence_answered_) return;
  path_.end();
  out_.leave_nic();
  atomics_.fence(atomics_at_peer_);
  state_ = Path::kDown;
  retry_at_ = now + options_.retry_after;
}

void ChannelEngine::skip_fence(Instant now) {
  in_.fence(path_);
  if (options_.faults.no_fence) out_.release_all_posted();
  out_.leave_nic();
  path_.abandon();
  state_ = Path::kDown;
  way_ = Way::kNone;
  retry_at_ = now + options_.retry_after;
}

// ---- which way messages go

void ChannelEngine::step_way(Instant now) {
  if (state_ == Path::kUp) up_until_ = now;
  if (way_ == Way::kRdma && state_ != Path::kUp) way_ = Way::kNone;
  if (way_ == Way::kPipe && (state_ == Path::kUp || pipe_ == nullptr)) {
    if (state_ == Path::kUp) ++n_.returns;
    way_ = Way::kLeavingPipe;
    leave_said_ = false;
  }
  if (way_ == Way::kLeavingPipe && !leave_said_ && control_up_) {
    control_.emplace_back(Fence{pipe_path(), turn_});
    leave_said_ = true;
  }
  if (way_ != Way::kNone) return;
  if (state_ == Path::kUp) {
    out_.begin();
    way_ = Way::kRdma;
  } else if (pipe_ != nullptr && state_ != Path::kFencing && now - up_until_ >= options_.fallback_after) {
    ++turn_;
    ++n_.fallbacks;
    out_.begin();
    way_ = Way::kPipe;
  }
}

}  // namespace matchrdma::host
