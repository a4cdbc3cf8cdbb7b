#pragma once
// Seeded work requests of every kind and awkward size.
#include <algorithm>
#include <cstdint>

#include "dataplane/base/prng.h"
#include "model/memory.h"
#include "model/rc_types.h"

namespace matchrdma::model {

struct WorkloadConfig {
  uint32_t path_mtu = 1024;
  uint32_t max_length = 16 * 1024;  ///< at most the size of the remote memory
  bool sends = true, writes = true, reads = true, atomics = true;
};

/// Lengths where segmentation goes wrong first: none, a byte, around whole packets; else anything.
inline uint32_t random_length(Prng& prng, const WorkloadConfig& c) {
  const uint64_t packets = std::max<uint64_t>(1, c.max_length / c.path_mtu);
  const int64_t whole = static_cast<int64_t>((1 + prng.below(packets)) * c.path_mtu);
  int64_t length = 0;
  switch (prng.below(6)) {
    case 0:
      length = prng.chance(0.3) ? 0 : 1 + static_cast<int64_t>(prng.below(8));
      break;
    case 1:
      length = whole;
      break;
    case 2:
      length = whole + prng.between(-3, 3);
      break;
    case 3:
      length = prng.between(1, c.path_mtu);
      break;
    default:
      length = prng.between(0, c.max_length);
  }
  return static_cast<uint32_t>(std::clamp<int64_t>(length, 0, c.max_length));
}

/// One request inside `remote`; kinds that `c` turned off never come. At least one must be on.
inline WorkRequest random_work(Prng& prng, const WorkloadConfig& c, const MemoryConfig& remote) {
  WorkRequest w;
  do {
    w.type = static_cast<WrType>(prng.below(8));
  } while (!(is_send(w.type)     ? c.sends
             : is_write(w.type)  ? c.writes
             : is_atomic(w.type) ? c.atomics
                                 : c.reads));
  w.length = is_atomic(w.type) ? 8 : std::min(random_length(prng, c), remote.size);
  w.rkey = remote.rkey;
  w.va = remote.base + prng.below(remote.size - w.length + 1);
  if (is_atomic(w.type)) w.va &= ~uint64_t{7};
  w.imm = static_cast<uint32_t>(prng.next());
  w.swap_add = prng.next();
  w.compare = prng.next();
  return w;
}

}  // namespace matchrdma::model
