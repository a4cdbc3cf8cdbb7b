#include "dataplane/source/pause.h"

#include <algorithm>

#include "dataplane/wire/pause_frame.h"

namespace matchrdma {
namespace {

constexpr Duration kRepeat = Duration::micros(50);
constexpr uint64_t kQuantumBits = 512;

// Twice as long as until the next one, so that one may be late.
uint16_t quanta(uint64_t port_bps) {
  const uint64_t bits = port_bps / 1'000'000 * static_cast<uint64_t>(2 * kRepeat.ns / 1000);
  return static_cast<uint16_t>(std::clamp<uint64_t>(bits / kQuantumBits, 1, 0xffff));
}

}  // namespace

Pause::Pause(const PauseConfig& config) : config_(config), quanta_(quanta(config.port_bps)) {}

void Pause::run(const RoleCtx& ctx) {
  if (config_.priorities == 0) return;
  if (!ctx.custody_above(next_.is_never() ? 8 : 7)) {
    next_ = Instant::never();
    return;
  }
  if (!next_.is_never() && next_ > ctx.now) return;
  next_ = ctx.now + kRepeat;
  PacketRef p = build_pause_frame(config_.mac, config_.priorities, quanta_, *ctx.pool);
  if (!p) return;
  ++ctx.n->pauses;
  ctx.out->packet(Side::kLan, Cause::kPause, std::move(p));
}

}  // namespace matchrdma
