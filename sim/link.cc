#include "sim/link.h"

namespace matchrdma::sim {

bool Link::fails(const SimPacket& p) {
  // A PAUSE stands until its RESUME here (SIMULATOR 3); real ones expire and are repeated, so that the loss of
  // one does not stop a link for good.
  if (p.kind == FrameKind::kPfc) return false;
  if (next_down_ < spec_.down.size()) {
    const SimTime end = p.due - spec_.delay;
    const SimTime begin = end - context_.tick.serialise(p.size + context_.frames.gap, spec_.rate);
    while (next_down_ < spec_.down.size() && spec_.down[next_down_].until <= begin) ++next_down_;
    if (next_down_ < spec_.down.size() && spec_.down[next_down_].from < end) return true;
  }
  return spec_.loss > 0 && prng_.chance(spec_.loss);
}

}  // namespace matchrdma::sim
